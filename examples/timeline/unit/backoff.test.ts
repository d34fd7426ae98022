import assert from "node:assert/strict"
import { test } from "node:test"

import { pauseAfter } from "../src/lib/backoff.ts"

test("each pause is twice the one before, up to half a minute", () => {
  assert.deepEqual(
    [1, 2, 3, 5, 6, 50, 5_000].map((failures) => pauseAfter(failures, 0)),
    [1_000, 2_000, 4_000, 16_000, 30_000, 30_000, 30_000],
  )
})

test("up to half of a pause is left out by chance", () => {
  assert.equal(pauseAfter(3, 0.5), 3_000)
  const pauses = Array.from({ length: 200 }, () => pauseAfter(3))
  assert.ok(pauses.every((pause) => pause > 2_000 && pause <= 4_000))
  assert.ok(new Set(pauses).size > 100)
})
