/** Which version of each object the cache has, so that what is older does not take the place of what is newer. */

import type { TeamChangedSubscription } from "../gql/graphql.ts"

export type Change = TeamChangedSubscription["teamChanged"]["changes"][number]

/** The type of an object behind a change, as `__typename` has it. */
export const TYPES = {
  ASSIGNMENT: "Assignment",
  MEMBERSHIP: "Membership",
  PROJECT: "Project",
  RESOURCE: "Resource",
  TEAM: "Team",
} as const satisfies Record<Change["entityType"], string>

const DELETED: Record<string, string> = {
  deletedAssignmentId: "Assignment",
  deletedAssignmentIds: "Assignment",
  deletedProjectId: "Project",
  deletedResourceId: "Resource",
}

export class Versions {
  /** By `__typename` and id. What this page has deleted is newer than all that is told of it, until the
   * deletion is. */
  private known = new Map<string, number>()

  /** Takes note of the objects in an answer, and of those that it says are deleted. */
  note(value: unknown): void {
    if (Array.isArray(value)) value.forEach((each) => this.note(each))
    else if (typeof value === "object" && value !== null) this.noteObject(value as Record<string, unknown>)
  }

  /** The changes that are news, which are noted as well. */
  news(changes: readonly Change[]): Change[] {
    return changes.filter(({ kind, entityType, entityId, version }) => {
      const key = `${TYPES[entityType]}:${entityId}`
      if (kind === "DELETED") {
        this.known.delete(key)
        return true
      }
      const known = this.known.get(key)
      if (known !== undefined && version <= known) return false
      if (version > 0) this.known.set(key, version) // Memberships have none.
      return true
    })
  }

  private noteObject(object: Record<string, unknown>): void {
    const { __typename: type, id, version } = object
    if (typeof version === "number" && id) this.known.set(`${String(type)}:${String(id)}`, version)
    for (const [field, value] of Object.entries(object)) {
      const deleted = DELETED[field]
      if (!deleted) this.note(value)
      else for (const gone of [value ?? []].flat()) this.known.set(`${deleted}:${String(gone)}`, Infinity)
    }
  }
}
