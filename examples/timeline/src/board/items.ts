/** What the chart library is given: bars, overlaps and today, as items with times in UTC. */

import { textOn } from "../lib/contrast.ts"
import { addDays, timeOf, type Day } from "../lib/days.ts"
import type { Assignment, Overlap, Person, Project } from "../lib/plan.ts"

/** A bar: an assignment with what is to be read on it. */
export interface Bar {
  assignment: Assignment
  title: string
  label: string
  color: string
  overlaps: boolean
}

export interface Item {
  id: string
  group?: string
  type: "range" | "background"
  start: number
  end: number
  content: string
  className: string
  style?: string
  editable: boolean
}

export interface Row {
  id: string
  content: string
  order: number
}

const UNKNOWN_COLOR = "#6b7280"

interface Words {
  span: (from: Day, to: Day) => string
  bar: (project: string, person: string, days: string, note: string, overlaps: boolean) => string
  unknownProject: string
}

/** The bars of the assignments, with their names. */
export function barsOf(
  assignments: readonly Assignment[],
  people: readonly Person[],
  projects: readonly Project[],
  overlaps: readonly Overlap[],
  words: Words,
): Bar[] {
  const names = new Map(people.map(({ id, name }) => [id, name]))
  const jobs = new Map(projects.map((project) => [project.id, project]))
  const involved = new Set(overlaps.flatMap((overlap) => overlap.assignments.map(({ id }) => id)))
  return assignments.map((assignment) => {
    const { id, startDate, endDate } = assignment
    const job = jobs.get(assignment.projectId)
    const title = job?.name ?? words.unknownProject
    const person = names.get(assignment.resourceId) ?? ""
    const note = assignment.note?.split("\n")[0] ?? ""
    const doubled = involved.has(id)
    const label = words.bar(title, person, words.span(startDate, endDate), note, doubled)
    return { assignment, title, label, color: job?.color ?? UNKNOWN_COLOR, overlaps: doubled }
  })
}

/** Everything that is drawn in the rows. */
export function itemsOf(
  bars: readonly Bar[],
  overlaps: readonly Overlap[],
  today: Day,
  editable: boolean,
): Item[] {
  return [
    background("today", "today", today, addDays(today, 1)),
    ...overlaps.map(({ resource, startDate, endDateExclusive }) => ({
      ...background(`overlap/${resource.id}/${startDate}`, "overlap", startDate, endDateExclusive),
      group: resource.id,
    })),
    ...bars.map(({ assignment, title, color, overlaps: doubled }) => ({
      id: assignment.id,
      group: assignment.resourceId,
      type: "range" as const,
      start: timeOf(assignment.startDate),
      end: timeOf(assignment.endDateExclusive),
      content: title,
      className: doubled ? "bar doubled" : "bar",
      style: `background-color: ${color}; color: ${textOn(color)}`,
      editable,
    })),
  ]
}

export const rowsOf = (people: readonly Person[]): Row[] =>
  people.map(({ id, name }, order) => ({ id, content: name, order }))

function background(id: string, className: string, from: Day, until: Day): Item {
  const [start, end] = [timeOf(from), timeOf(until)]
  return { id, type: "background", start, end, content: "", className, editable: false }
}
