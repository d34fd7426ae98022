/**
 * Which days to ask for as the window scrolls: whole months, with one more on either side, and no
 * month twice.
 */

import { FIRST_DAY, LAST_DAY, addMonths, firstOfMonth, lastOfMonth, type Day, type Span } from "./days.ts"

const LAST_MONTH = firstOfMonth(LAST_DAY)

/** The whole months that `seen` touches, and `margin` months more on either side; but no days that an
 * assignment can't have, which as strings would not be in order. */
export function withMargin(seen: Span, margin = 1): Span {
  const from = addMonths(seen.from, -margin)
  const to = addMonths(seen.to, margin)
  // A year of five digits is longer.
  return { from: from > FIRST_DAY ? from : FIRST_DAY, to: endOf(to.length > LAST_DAY.length ? LAST_MONTH : to) }
}

const endOf = (month: Day): Day => (month < LAST_MONTH ? lastOfMonth(month) : LAST_DAY)

/** The parts of `wanted`, made of whole months, that none of `loaded` has: the fewest spans. */
export function missing(loaded: readonly Span[], wanted: Span): Span[] {
  const spans: Span[] = []
  for (const month of months(wanted)) {
    if (loaded.some((span) => span.from <= month && month <= span.to)) continue
    const last = spans.at(-1)
    if (last && addMonths(last.to, 1) === month) last.to = endOf(month)
    else spans.push({ from: month, to: endOf(month) })
  }
  return spans
}

function* months(span: Span): Generator<Day> {
  let month = firstOfMonth(span.from)
  for (; month < LAST_MONTH && month <= span.to; month = addMonths(month, 1)) yield month
  if (month === LAST_MONTH && month <= span.to) yield month
}
