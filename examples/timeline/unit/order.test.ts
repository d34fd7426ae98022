import assert from "node:assert/strict"
import { test } from "node:test"

import { Client, gql, makeResult, type Exchange, type Operation, type OperationResult } from "@urql/core"
import { filter, makeSubject, merge, pipe, share, subscribe, tap } from "wonka"

import { orderExchange } from "../src/data/order.ts"
import { Versions, type Change } from "../src/lib/versions.ts"

const changed = (version: number, kind: Change["kind"] = "UPDATED"): Change => ({
  kind,
  entityType: "ASSIGNMENT",
  entityId: "a",
  version,
  entity: null,
})
const stored = (version: number) => ({ node: { __typename: "Assignment", id: "a", version } })

test("a change that the cache has already, or has newer, is no news", () => {
  const versions = new Versions()
  versions.note({ team: { assignments: [stored(2).node] } })
  assert.deepEqual(versions.news([changed(1), changed(2), changed(3), changed(3)]), [changed(3)])
  versions.note(stored(5))
  assert.deepEqual(versions.news([changed(4)]), [])
})

test("what this page has deleted does not come back by what is told of it before its deletion", () => {
  const versions = new Versions()
  versions.note({ deleteResource: { deletedResourceId: "r", deletedAssignmentIds: ["a"] } })
  const deleted = changed(4, "DELETED")
  const again = changed(1, "CREATED")
  assert.deepEqual(versions.news([changed(3), deleted, again]), [deleted, again])
})

test("a refused deletion says nothing of what is there", () => {
  const versions = new Versions()
  versions.note({ deleteAssignment: { deletedAssignmentId: null } })
  assert.deepEqual(versions.news([changed(1)]), [changed(1)])
})

/** A client whose server answers when it is told to; what comes out of the exchange, in order. */
function between() {
  const answers = makeSubject<OperationResult>()
  const seen: string[] = []
  const operations: Operation[] = []
  const server: Exchange = () => (asked) =>
    merge([answers.source, pipe(asked, tap((each) => operations.push(each)), filter(() => false)) as never])
  const note: Exchange = ({ forward }) => (asked) =>
    share(
      pipe(
        forward(asked),
        tap(({ operation, data }) => {
          const told = data.teamChanged?.changes.map((each: Change) => each.version).join() as string
          seen.push(operation.kind === "subscription" ? `changes ${told}` : operation.kind)
        }),
      ),
    )
  const client = new Client({ url: "/", exchanges: [note, orderExchange, server], preferGetMethod: false })
  const start = (kind: "query" | "mutation" | "subscription") => {
    const document = gql(`${kind} { field }`)
    return pipe(client[kind === "query" ? "query" : kind](document, {}) as never, subscribe(() => {}))
  }
  const answer = (kind: Operation["kind"], data: Record<string, unknown>) =>
    answers.next(makeResult(operations.find((each) => each.kind === kind)!, { data }))
  return { seen, start, answer }
}

const settled = () => new Promise<void>((resolve) => setTimeout(resolve))
const batch = (...versions: number[]) => ({
  teamChanged: { cursor: "c", changes: versions.map((version) => changed(version)) },
})

for (const kind of ["query", "mutation"] as const) {
  test(`changes wait for the answer to a ${kind}, and only what is newer follows it`, async () => {
    const { seen, start, answer } = between()
    start("subscription")
    start(kind)
    answer("subscription", batch(2, 3))
    await settled()
    assert.deepEqual(seen, [])
    answer(kind, stored(2))
    await settled()
    assert.deepEqual(seen, [kind, "changes 3"])
    answer("subscription", batch(3, 4))
    await settled()
    assert.deepEqual(seen, [kind, "changes 3", "changes 4"])
  })
}

test("a question that nobody waits for any more holds nothing up", async () => {
  const { seen, start, answer } = between()
  start("subscription")
  const { unsubscribe } = start("query")
  answer("subscription", batch(1))
  unsubscribe()
  await settled()
  assert.deepEqual(seen, ["changes 1"])
})
