import assert from "node:assert/strict"
import { test } from "node:test"

import type { Assignment } from "../src/lib/plan.ts"
import { beside, besideBar, nextBar } from "../src/lib/stops.ts"

const on = (id: string, day: string): Assignment => ({
  id,
  resourceId: `row of ${id}`,
  projectId: "project",
  startDate: day,
  endDate: day,
  endDateExclusive: "unused",
  version: 1,
})
const march = { from: "2026-03-01", to: "2026-03-31" }
const bars = [on("a", "2026-03-31"), on("far", "2026-05-01"), on("b", "2026-03-01"), on("last", "2026-04-01")]

test("arrows go to the bars in view first, and then to the others", () => {
  assert.equal(nextBar(bars, "a", 1, march)?.id, "b")
  assert.equal(nextBar(bars, "b", -1, march)?.id, "a")
  assert.equal(nextBar(bars, "b", 1, march)?.id, "last")
  assert.equal(nextBar(bars, "last", 1, march), null)
  assert.equal(nextBar(bars, "a", -1, march), null)
})

test("beside a bar is one in view, or its row", () => {
  assert.deepEqual(besideBar(bars, bars[0]!, march), { type: "Assignment", id: "b" })
  assert.deepEqual(besideBar(bars, bars[2]!, march), { type: "Assignment", id: "a" })
  assert.deepEqual(besideBar(bars.slice(0, 2), bars[0]!, march), { type: "Resource", id: "row of a" })
})

test("beside a person is the next one, or the one before", () => {
  const people = ["ada", "ken"].map((id) => ({ id, name: id, version: 1 }))
  assert.deepEqual(beside("Resource", people, "ada"), { type: "Resource", id: "ken" })
  assert.deepEqual(beside("Resource", people, "ken"), { type: "Resource", id: "ada" })
  assert.equal(beside("Resource", people.slice(0, 1), "ada"), null)
})
