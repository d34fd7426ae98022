import assert from "node:assert/strict"
import { test } from "node:test"

import { inReadingOrder, merged, placed, resized, shifted, type Assignment } from "../src/lib/plan.ts"

const assignment = (id: string, resourceId: string, startDate: string, version = 1): Assignment => ({
  id,
  resourceId,
  projectId: "project",
  startDate,
  endDate: startDate,
  endDateExclusive: "unused",
  version,
})
const place = { resourceId: "ada", startDate: "2026-02-27", endDate: "2026-02-28" }

test("a place keeps its length when it is shifted", () => {
  assert.deepEqual(shifted(place, 1), { ...place, startDate: "2026-02-28", endDate: "2026-03-01" })
})

test("a place never ends before it begins", () => {
  assert.equal(resized(place, -1).endDate, "2026-02-27")
  assert.equal(resized(place, -5).endDate, "2026-02-27")
  assert.equal(resized(place, 1).endDate, "2026-03-01")
})

test("the day after the last one follows a new place", () => {
  const there = placed(assignment("a", "ada", "2026-01-01"), place)
  assert.equal(there.endDateExclusive, "2026-03-01")
})

test("an assignment that is in several answers is there once, as the last one has it", () => {
  const all = merged([[assignment("a", "ada", "2026-01-01")], [assignment("a", "ada", "2026-01-02", 2)]])
  assert.equal(all.size, 1)
  assert.equal(all.get("a")?.version, 2)
})

test("bars are read row by row, then by day; those of nobody are left out", () => {
  const people = [
    { id: "ada", name: "Ada", version: 1 },
    { id: "ken", name: "Ken", version: 1 },
  ]
  const read = inReadingOrder(
    [
      assignment("1", "ken", "2026-01-01"),
      assignment("2", "ada", "2026-01-09"),
      assignment("3", "gone", "2026-01-01"),
      assignment("4", "ada", "2026-01-01"),
    ],
    people,
  )
  assert.deepEqual(read.map(({ id }) => id), ["4", "2", "1"])
})
