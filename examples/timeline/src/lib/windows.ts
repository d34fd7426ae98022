/**
 * Which days to ask for as the window scrolls: whole months, with one more on either side, and no
 * month twice.
 */

import { addMonths, firstOfMonth, lastOfMonth, type Day, type Span } from "./days.ts"

/** The whole months that `seen` touches, and `margin` months more on either side. */
export function withMargin(seen: Span, margin = 1): Span {
  return { from: addMonths(seen.from, -margin), to: lastOfMonth(addMonths(seen.to, margin)) }
}

/** The parts of `wanted`, made of whole months, that none of `loaded` has: the fewest spans. */
export function missing(loaded: readonly Span[], wanted: Span): Span[] {
  const spans: Span[] = []
  for (const month of months(wanted)) {
    if (loaded.some((span) => span.from <= month && month <= span.to)) continue
    const last = spans.at(-1)
    if (last && addMonths(last.to, 1) === month) last.to = lastOfMonth(month)
    else spans.push({ from: month, to: lastOfMonth(month) })
  }
  return spans
}

function* months(span: Span): Generator<Day> {
  for (let month = firstOfMonth(span.from); month <= span.to; month = addMonths(month, 1)) yield month
}
