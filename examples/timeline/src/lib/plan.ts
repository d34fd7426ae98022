/** What is on the board, and what is done to it: without a browser, a server or a framework. */

import { addDays, type Day, type Span } from "./days.ts"

export interface Person {
  id: string
  name: string
  version: number
}

export interface Project {
  id: string
  name: string
  color: string
  version: number
}

/** An assignment as the API gives it: both days inclusive, and the day after the last one. */
export interface Assignment {
  id: string
  resourceId: string
  projectId: string
  startDate: Day
  endDate: Day
  endDateExclusive: Day
  note?: string | null
  version: number
}

/** Where on the board an assignment is. */
export type Place = Pick<Assignment, "resourceId" | "startDate" | "endDate">

/** Days on which one person is planned more than once. */
export interface Overlap {
  resource: { id: string }
  startDate: Day
  endDate: Day
  endDateExclusive: Day
  assignments: readonly { id: string }[]
}

export const placeOf = ({ resourceId, startDate, endDate }: Assignment): Place => ({
  resourceId,
  startDate,
  endDate,
})

/** Whether it has a day in the span. */
export const touches = (
  { startDate, endDate }: Pick<Assignment, "startDate" | "endDate">,
  { from, to }: Span,
): boolean => startDate <= to && endDate >= from

export function isSamePlace(one: Place, other: Place): boolean {
  return (
    one.resourceId === other.resourceId &&
    one.startDate === other.startDate &&
    one.endDate === other.endDate
  )
}

/** The assignment as it would be at that place. */
export const placed = (assignment: Assignment, place: Place): Assignment => ({
  ...assignment,
  ...place,
  endDateExclusive: addDays(place.endDate, 1),
})

/** The place so many days later. */
export const shifted = (place: Place, days: number): Place => ({
  ...place,
  startDate: addDays(place.startDate, days),
  endDate: addDays(place.endDate, days),
})

/** The place with its last day so many days later, but never before its first. */
export function resized(place: Place, days: number): Place {
  const endDate = addDays(place.endDate, days)
  return { ...place, endDate: endDate < place.startDate ? place.startDate : endDate }
}

/** All assignments of several answers, each once, in the order in which the board is read: by person as
 * the rows are, then by day. The last answer has the last word. */
export function merged(answers: Iterable<readonly Assignment[]>): Map<string, Assignment> {
  const all = new Map<string, Assignment>()
  for (const answer of answers) for (const each of answer) all.set(each.id, each)
  return all
}

/** By row, then by first day. */
export function inReadingOrder(
  assignments: Iterable<Assignment>,
  people: readonly Person[],
): Assignment[] {
  const row = new Map(people.map((person, index) => [person.id, index]))
  return [...assignments]
    .filter((each) => row.has(each.resourceId))
    .sort(
      (a, b) =>
        row.get(a.resourceId)! - row.get(b.resourceId)! ||
        a.startDate.localeCompare(b.startDate) ||
        a.id.localeCompare(b.id),
    )
}
