/** Where the keyboard goes on to: from bar to bar, and from what is deleted to what is beside it. */

import type { Span } from "./days.ts"
import { touches, type Assignment, type Person, type Project } from "./plan.ts"

/** Something that the keyboard can be on. */
export interface Stop {
  type: "Assignment" | "Resource" | "Project"
  id: string
}

/** The next bar in that direction: of those in view, or else of all. */
export function nextBar(
  ordered: readonly Assignment[],
  id: string,
  step: -1 | 1,
  seen: Span,
): Assignment | null {
  const further = furtherThan(ordered, id, step)
  return further.find((each) => touches(each, seen)) ?? further[0] ?? null
}

/** What is beside a bar: the bar in view after it or before it, or else the name of its row. */
export function besideBar(ordered: readonly Assignment[], gone: Assignment, seen: Span): Stop {
  const near = ([1, -1] as const)
    .map((step) => furtherThan(ordered, gone.id, step).find((each) => touches(each, seen)))
    .find((each) => each)
  return near ? { type: "Assignment", id: near.id } : { type: "Resource", id: gone.resourceId }
}

/** What is beside a person or a project; null when it was the last. */
export function beside(type: Stop["type"], all: readonly (Person | Project)[], id: string): Stop | null {
  const near = furtherThan(all, id, 1)[0] ?? furtherThan(all, id, -1)[0]
  return near ? { type, id: near.id } : null
}

function furtherThan<Each extends { id: string }>(all: readonly Each[], id: string, step: -1 | 1): Each[] {
  const at = all.findIndex((each) => each.id === id)
  return step === 1 ? all.slice(at + 1) : all.slice(0, Math.max(at, 0)).reverse()
}
