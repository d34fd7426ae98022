/**
 * Brings what others change into one order with what this page asks for and writes. The answer to a request
 * may be older than a change that came while it was on its way: so changes wait until no request is, and
 * then only those go on to the cache that are newer than what it has by then.
 */

import type { Exchange, OperationResult } from "@urql/core"
import { filter, makeSubject, merge, pipe, tap } from "wonka"

import type { TeamChangedSubscription } from "../gql/graphql.ts"
import { Versions } from "../lib/versions.ts"

export const orderExchange: Exchange =
  ({ forward }) =>
  (operations) => {
    const versions = new Versions()
    const asked = new Set<number>()
    const held: OperationResult<TeamChangedSubscription>[] = []
    const { source: released, next } = makeSubject<OperationResult>()

    function release(): void {
      // Once the cache has what has just been answered.
      queueMicrotask(() => {
        while (held.length && !asked.size) {
          const result = held.shift()!
          const { teamChanged } = result.data!
          const changes = versions.news(teamChanged.changes)
          next({ ...result, data: { ...result.data, teamChanged: { ...teamChanged, changes } } })
        }
      })
    }

    const answers = pipe(
      operations,
      tap(({ kind, key }) => {
        if (kind === "query" || kind === "mutation") asked.add(key)
        else if (kind === "teardown" && asked.delete(key)) release()
      }),
      forward,
      filter((result) => {
        const { kind, key } = result.operation
        if (kind === "subscription" && result.data) {
          held.push(result as OperationResult<TeamChangedSubscription>)
          release()
          return false
        }
        versions.note(result.data)
        if (asked.delete(key)) release()
        return true
      }),
    )
    return merge([answers, released])
  }
