import assert from "node:assert/strict"
import { test } from "node:test"

import { addDays, daysBetween } from "../src/lib/days.ts"
import { missing, withMargin } from "../src/lib/windows.ts"

test("what is seen is asked for by whole months, with one more on either side", () => {
  const wanted = withMargin({ from: "2026-11-23", to: "2026-12-27" })
  assert.deepEqual(wanted, { from: "2026-10-01", to: "2027-01-31" })
})

test("nothing is asked for beyond the days that there are", () => {
  const last = withMargin({ from: "9999-11-20", to: "9999-12-25" })
  assert.deepEqual(last, { from: "9999-10-01", to: "9999-12-30" })
  assert.deepEqual(missing([], last), [last])
  assert.deepEqual(missing([last], last), [])
  const first = withMargin({ from: "1900-01-01", to: "1900-01-20" })
  assert.deepEqual(first, { from: "1900-01-01", to: "1900-02-28" })
  assert.deepEqual(missing([], first), [first])
})

test("neighbouring months are asked for as one span", () => {
  assert.deepEqual(missing([], { from: "2026-10-01", to: "2027-01-31" }), [
    { from: "2026-10-01", to: "2027-01-31" },
  ])
})

test("months that are there are not asked for again, on either side of them", () => {
  const loaded = [{ from: "2026-10-01", to: "2027-01-31" }]
  assert.deepEqual(missing(loaded, { from: "2026-11-01", to: "2026-12-31" }), [])
  assert.deepEqual(missing(loaded, { from: "2026-08-01", to: "2027-03-31" }), [
    { from: "2026-08-01", to: "2026-09-30" },
    { from: "2027-02-01", to: "2027-03-31" },
  ])
})

test("whatever way the window goes, no month is asked for twice and none is left out", () => {
  const loaded: { from: string; to: string }[] = []
  const asked = new Map<string, number>()
  for (const step of [0, 10, 400, -300, -20, 900, 35, -1200, 5]) {
    const from = addDays("2026-01-31", step)
    const wanted = withMargin({ from, to: addDays(from, 90) })
    for (const span of missing(loaded, wanted)) {
      loaded.push(span)
      for (let at = 0; at <= daysBetween(span.from, span.to); at++) {
        const day = addDays(span.from, at)
        asked.set(day, (asked.get(day) ?? 0) + 1)
      }
    }
    for (let at = 0; at <= daysBetween(wanted.from, wanted.to); at++)
      assert.ok(asked.has(addDays(wanted.from, at)))
  }
  assert.deepEqual(new Set(asked.values()), new Set([1]))
})
