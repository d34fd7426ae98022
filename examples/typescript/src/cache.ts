// The cache of urql, told what a mutation changes besides the objects that it answers with.
import { type Cache, type CacheExchangeOpts, cacheExchange } from "@urql/exchange-graphcache"

import type * as gql from "./gql/graphql.js"
import schema from "./gql/schema.json" with { type: "json" }

type Assignment = gql.AssignmentFieldsFragment
type Window = { from?: string | null; to?: string | null } | null

export const cache = () =>
  cacheExchange({
    schema: schema as Required<CacheExchangeOpts>["schema"],
    // These have no id: each belongs to the object that it is in.
    keys: { Link: () => null, Overlap: () => null, UserError: () => null },
    updates: {
      Mutation: {
        createResource: ({ createResource: done }: gql.CreateResourceMutation, _, cache) =>
          append(cache, "resources", done?.resource && `Resource:${done.resource.id}`),
        createProject: ({ createProject: done }: gql.CreateProjectMutation, _, cache) =>
          append(cache, "projects", done?.project && `Project:${done.project.id}`),
        createAssignment: ({ createAssignment: done }: gql.CreateAssignmentMutation, _, cache) =>
          place(cache, [done?.assignment]),
        updateAssignment: ({ updateAssignment: done }: gql.UpdateAssignmentMutation, _, cache) =>
          place(cache, [done?.assignment]),
        updateAssignments: ({ updateAssignments: done }: gql.UpdateAssignmentsMutation, _, cache) =>
          place(cache, done?.assignments ?? []),
        deleteAssignment: ({ deleteAssignment: done }: gql.DeleteAssignmentMutation, _, cache) =>
          remove(cache, "Assignment", [done?.deletedAssignmentId]),
        deleteResource: ({ deleteResource: done }: gql.DeleteResourceMutation, _, cache) => {
          remove(cache, "Assignment", done?.deletedAssignmentIds ?? [])
          remove(cache, "Resource", [done?.deletedResourceId])
        },
        deleteProject: ({ deleteProject: done }: gql.DeleteProjectMutation, _, cache) => {
          remove(cache, "Assignment", done?.deletedAssignmentIds ?? [])
          remove(cache, "Project", [done?.deletedProjectId])
        },
        createCalendarFeed: ({ createCalendarFeed: done }: gql.CreateCalendarFeedMutation, _, cache) =>
          append(cache, "calendarFeeds", done?.calendarFeed && `CalendarFeed:${done.calendarFeed.id}`),
        deleteCalendarFeed: ({ deleteCalendarFeed: done }: gql.DeleteCalendarFeedMutation, _, cache) =>
          remove(cache, "CalendarFeed", [done?.deletedCalendarFeedId]),
        // Only their ids are known, not their new days: what shows them fetches again.
        shiftProject: ({ shiftProject: done }: gql.ShiftProjectMutation, _, cache) => {
          for (const id of done?.shiftedAssignmentIds ?? [])
            cache.invalidate({ __typename: "Assignment", id })
          recount(cache)
        },
      },
    },
  })

/** Every list of objects in the cache, of whatever a page has come to from the root. */
function lists(cache: Cache) {
  const owners = new Set(["Query"])
  const found = []
  for (const owner of owners) // which grows meanwhile
    for (const { fieldName, fieldKey, arguments: window } of cache.inspectFields(owner)) {
      const value = cache.resolve(owner, fieldKey)
      const keys = [value].flat().filter((key) => typeof key === "string")
      for (const key of keys) if (/^(Team|Viewer|Resource|Project):/.test(key)) owners.add(key)
      if (Array.isArray(value)) found.push({ owner, fieldName, window: window as Window, keys })
    }
  return found
}

/** Puts assignments into every list that has their days and their people or project. */
function place(cache: Cache, assignments: (Assignment | null | undefined)[]) {
  const start = (key: string) => String(cache.resolve(key, "startDate"))
  for (const assignment of assignments) {
    if (!assignment) continue // refused: nothing was written
    const changed = `Assignment:${assignment.id}`
    for (const { owner, fieldName, window, keys } of lists(cache)) {
      if (fieldName !== "assignments") continue
      const others = keys.filter((key) => key !== changed)
      const all = keys.length > others.length ? keys : [...keys, changed]
      const now = belongs(assignment, owner, window) ? all : others
      now.sort((a, b) => start(a).localeCompare(start(b)))
      cache.link(owner, fieldName, window, now)
    }
  }
  recount(cache)
}

function belongs({ startDate, endDate, resourceId, projectId }: Assignment, owner: string, window: Window) {
  const isOwned =
    owner.startsWith("Team:") || owner === `Resource:${resourceId}` || owner === `Project:${projectId}`
  return isOwned && startDate <= (window?.to ?? startDate) && endDate >= (window?.from ?? endDate)
}

/** Adds what was created at the end of its list: lists are in the order of creation. */
function append(cache: Cache, field: "resources" | "projects" | "calendarFeeds", key: string | null | undefined) {
  if (!key) return // refused
  for (const { owner, fieldName, keys } of lists(cache))
    if (fieldName === field && !keys.includes(key)) cache.link(owner, field, [...keys, key])
}

/** Takes what was deleted out of every list, and then forgets it. */
function remove(cache: Cache, __typename: string, ids: (string | null | undefined)[]) {
  const gone = new Set(ids.filter((id) => id != null).map((id) => `${__typename}:${id}`))
  for (const { owner, fieldName, window, keys } of lists(cache))
    if (keys.some((key) => gone.has(key)))
      cache.link(owner, fieldName, window, keys.filter((key) => !gone.has(key)))
  for (const key of gone) cache.invalidate(key)
  if (gone.size) recount(cache)
}

/** Overlaps are the server's to find: pages that show them ask again. */
function recount(cache: Cache) {
  for (const { owner, fieldName, window } of lists(cache))
    if (fieldName === "overlaps") cache.invalidate(owner, fieldName, window)
}
