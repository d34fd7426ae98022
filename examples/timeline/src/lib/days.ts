/**
 * Days: strings `YYYY-MM-DD`, as the API has them. They have no time and no time zone, so they are
 * computed in UTC, where each day has 24 hours, and compared as strings.
 */

export type Day = string

/** Days from `from` to `to`, both of them included. */
export interface Span {
  from: Day
  to: Day
}

export const DAY_MS = 86_400_000

/** The first and the last day that an assignment may have. */
export const FIRST_DAY: Day = "1900-01-01"
export const LAST_DAY: Day = "9999-12-30"

/** Midnight of the day in UTC, in milliseconds. */
export const timeOf = (day: Day): number => Date.parse(`${day}T00:00:00Z`)

/** The day that a time in UTC lies in. */
export const dayAt = (time: number): Day => new Date(time).toISOString().slice(0, 10)

/** The day whose midnight is nearest: where something dropped between two days belongs. */
export const nearestDay = (time: number): Day => dayAt(Math.round(time / DAY_MS) * DAY_MS)

export const addDays = (day: Day, days: number): Day => dayAt(timeOf(day) + days * DAY_MS)

/** How many days `to` is after `from`. */
export const daysBetween = (from: Day, to: Day): number => (timeOf(to) - timeOf(from)) / DAY_MS

export const firstOfMonth = (day: Day): Day => `${day.slice(0, 8)}01`

/** The first day of the month that is so many months after that of `day`. */
export function addMonths(day: Day, months: number): Day {
  const count = Number(day.slice(0, 4)) * 12 + Number(day.slice(5, 7)) - 1 + months
  const [year, month] = [Math.floor(count / 12), (count % 12) + 1]
  return `${String(year).padStart(4, "0")}-${String(month).padStart(2, "0")}-01`
}

export const lastOfMonth = (day: Day): Day => addDays(addMonths(day, 1), -1)

/** The day that the calendar on the user's wall shows. */
export function today(now: Date = new Date()): Day {
  const [month, date] = [now.getMonth() + 1, now.getDate()].map((part) => String(part).padStart(2, "0"))
  return `${now.getFullYear()}-${month}-${date}`
}

/** What is wrong with a span as somebody typed it, if anything. */
export function fault(span: Span): "missing" | "reversed" | "outside" | null {
  if (!span.from || !span.to) return "missing"
  if (span.from < FIRST_DAY || span.to > LAST_DAY) return "outside"
  return span.from > span.to ? "reversed" : null
}
