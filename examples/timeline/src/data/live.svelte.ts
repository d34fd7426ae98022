/**
 * Keeps the page live: what others change comes by itself, see cache.ts for where it goes. After a connection
 * was lost it goes on from the last cursor, so that nothing is missed and the plan is not asked for again.
 */

import type { Client, CombinedError } from "@urql/core"
import { onEnd, pipe, subscribe } from "wonka"

import { TeamChangedDocument } from "../gql/graphql.ts"
import { pauseAfter } from "../lib/backoff.ts"
import { failureOf, type Failure } from "../lib/failures.ts"
import type { Plan } from "./plan.svelte.ts"

/** What the plan waits for the stream to stand, at most, in milliseconds. */
const PATIENCE = 1_000

/** After these it would be the same the next time. */
const FINAL = ["UNAUTHENTICATED", "FORBIDDEN"]

export class Live {
  private client: Client
  private plan: Plan
  /** Whether changes come, as far as is known. */
  isLost = $state(false)
  /** Why they won't come any more. */
  failure = $state.raw<Failure | null>(null)
  private since: string | null = null
  private failures = 0
  private stop: (() => void) | null = null
  private timer: ReturnType<typeof setTimeout> | undefined
  private settle = () => {}

  constructor(client: Client, plan: Plan) {
    this.client = client
    this.plan = plan
  }

  /** Begins. When this returns, the plan is to be asked for: then nothing falls between the two. */
  async start(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.settle = resolve
      setTimeout(resolve, PATIENCE)
      this.listen()
    })
  }

  /** Nobody looks: the connection is let go, since browsers have six for all pages of a server that speaks
   * HTTP/1.1. */
  pause(): void {
    clearTimeout(this.timer)
    this.stop?.()
    this.stop = null
  }

  /** Goes on where it was, now. */
  resume(): void {
    if (this.stop || this.failure) return
    clearTimeout(this.timer)
    this.listen()
  }

  private listen(): void {
    let isOver = false
    const ended = (error?: CombinedError) => {
      if (isOver) return
      isOver = true
      this.stop = null
      this.settle()
      this.ended(error)
    }
    const { unsubscribe } = pipe(
      this.client.subscription(TeamChangedDocument, { since: this.since }),
      onEnd(() => ended()),
      subscribe(({ data, error }) => {
        if (error) ended(error)
        else if (data && !isOver) this.take(data.teamChanged.cursor, data.teamChanged.changes.length)
      }),
    )
    this.stop = () => {
      isOver = true
      unsubscribe()
    }
  }

  private take(cursor: string, changes: number): void {
    // What was asked for before the stream stood may be older than what it began with.
    if (this.since === null) this.plan.refresh()
    this.since = cursor
    this.failures = 0
    this.isLost = false
    this.settle()
    if (changes) this.plan.showOverlapsSoon()
  }

  private ended(error?: CombinedError): void {
    const failure = error ? failureOf(error) : null
    if (failure?.code === "BAD_USER_INPUT") {
      if (this.since === null) return // A server without live updates, see PLANNER_LIVE.
      this.since = null // Too old: all is asked for again once the stream stands.
    }
    this.isLost = true
    if (failure && FINAL.includes(failure.code)) this.failure = failure
    else this.timer = setTimeout(() => this.listen(), pauseAfter(++this.failures))
  }
}
