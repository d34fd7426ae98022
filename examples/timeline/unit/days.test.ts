import assert from "node:assert/strict"
import { test } from "node:test"

import {
  addDays,
  addMonths,
  dayAt,
  daysBetween,
  fault,
  lastOfMonth,
  nearestDay,
  timeOf,
  today,
} from "../src/lib/days.ts"

test("days are counted across months, leap days and the change of clocks", () => {
  const cases: [string, number, string][] = [
    ["2026-01-31", 1, "2026-02-01"],
    ["2024-02-28", 1, "2024-02-29"],
    ["2023-02-28", 1, "2023-03-01"],
    ["2026-03-29", 1, "2026-03-30"], // clocks change in Europe
    ["2026-03-08", -1, "2026-03-07"], // and in America
    ["1900-01-01", 2_958_462, "9999-12-30"],
  ]
  for (const [day, days, expected] of cases) {
    assert.equal(addDays(day, days), expected)
    assert.equal(daysBetween(day, expected), days)
  }
})

test("a day is the same before and after it was a time", () => {
  for (const day of ["1900-01-01", "1970-01-01", "2026-10-25", "9999-12-30"]) {
    assert.equal(dayAt(timeOf(day)), day)
    assert.equal(dayAt(timeOf(day) + 86_399_999), day)
  }
})

test("what is dropped between two days goes to the nearer one", () => {
  assert.equal(nearestDay(timeOf("2026-05-01") + 11 * 3_600_000), "2026-05-01")
  assert.equal(nearestDay(timeOf("2026-05-01") + 13 * 3_600_000), "2026-05-02")
})

test("months are counted across years, and end where they end", () => {
  assert.equal(addMonths("2026-11-30", 3), "2027-02-01")
  assert.equal(addMonths("2026-01-15", -1), "2025-12-01")
  assert.equal(addMonths("2026-01-15", 0), "2026-01-01")
  assert.equal(lastOfMonth("2024-02-10"), "2024-02-29")
})

test("today is the day of the user's own calendar, whatever day it is in Greenwich", () => {
  // 30 minutes before and after local midnight: the tests run in several time zones.
  assert.equal(today(new Date(2026, 2, 8, 23, 30)), "2026-03-08")
  assert.equal(today(new Date(2026, 2, 9, 0, 30)), "2026-03-09")
})

test("a span that can't be is told apart by its fault", () => {
  assert.equal(fault({ from: "2026-01-01", to: "2026-01-01" }), null)
  assert.equal(fault({ from: "2026-01-02", to: "2026-01-01" }), "reversed")
  assert.equal(fault({ from: "", to: "2026-01-01" }), "missing")
  assert.equal(fault({ from: "1899-12-31", to: "2026-01-01" }), "outside")
  assert.equal(fault({ from: "2026-01-01", to: "9999-12-31" }), "outside")
})
