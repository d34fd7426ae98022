/**
 * The normalised cache: every object once, by `__typename` and `id`. What a mutation answers, and what others
 * have changed, is put where it belongs, so nothing is asked for again after a write of anybody.
 */

import { cacheExchange, type Cache, type CacheExchangeOpts, type DataFields } from "@urql/exchange-graphcache"

import { TYPES, type Change } from "../lib/versions.ts"

type Key = string
type Payload = Record<string, unknown> | null
type Entity = Exclude<Parameters<Cache["keyOfEntity"]>[0], string | null | undefined>

type Span = { startDate: string; endDateExclusive: string }

const OWNERS = { Resource: "resources", Project: "projects" } as const

/** Objects without an id are parts of what has one. */
const embedded = () => null

const settings: CacheExchangeOpts = {
  keys: {
    Change: embedded,
    CreateAssignmentPayload: embedded,
    CreateProjectPayload: embedded,
    CreateResourcePayload: embedded,
    DeleteAssignmentPayload: embedded,
    DeleteProjectPayload: embedded,
    DeleteResourcePayload: embedded,
    Overlap: embedded,
    TeamChanges: embedded,
    UpdateAssignmentPayload: embedded,
    UpdateProjectPayload: embedded,
    UpdateResourcePayload: embedded,
    UserError: embedded,
  },
  updates: {
    Query: {
      // Asked again and not there any more.
      node: (result, args, cache) => {
        if (result["node"] === null) drop(cache, "assignments", [`Assignment:${String(args["id"])}`])
      },
    },
    Mutation: {
      createAssignment: (result, _args, cache) => addAssignment(result, cache),
      createResource: (result, _args, cache) => addOwner(result, cache, "Resource"),
      createProject: (result, _args, cache) => addOwner(result, cache, "Project"),
      deleteAssignment: (result, _args, cache) => {
        const id = payload(result, "deleteAssignment")?.["deletedAssignmentId"]
        if (id) drop(cache, "assignments", [`Assignment:${String(id)}`])
      },
      deleteResource: (result, _args, cache) => removeOwner(result, cache, "Resource"),
      deleteProject: (result, _args, cache) => removeOwner(result, cache, "Project"),
    },
    Subscription: {
      teamChanged: (result, _args, cache) => {
        for (const each of payload(result, "teamChanged")?.["changes"] as Change[]) follow(each, cache)
      },
    },
  },
}

export const normalisedCache = () => cacheExchange(settings)

function addAssignment(result: DataFields, cache: Cache): void {
  const assignment = payload(result, "createAssignment")?.["assignment"] as Payload
  const key = assignment && cache.keyOfEntity(assignment as Entity)
  if (!key) return
  const span = assignment as unknown as Span
  change(cache, "assignments", (keys, window) => (touches(span, window) ? including(keys, key) : keys))
}

function addOwner(result: DataFields, cache: Cache, type: keyof typeof OWNERS): void {
  const owner = payload(result, `create${type}`)?.[type.toLowerCase()] as Payload
  const key = owner && cache.keyOfEntity(owner as Entity)
  if (key) change(cache, OWNERS[type], (keys) => including(keys, key))
}

/** Puts what somebody has changed into the lists that it belongs in now, and takes it out of all others. */
function follow({ entityType, entityId, entity }: Change, cache: Cache): void {
  const type = TYPES[entityType]
  const key = `${type}:${entityId}`
  if (type === "Assignment") {
    change(cache, "assignments", (keys, window) =>
      entity && touches(entity as Span, window) ? including(keys, key) : without(keys, [key]),
    )
  } else if (type === "Resource" || type === "Project") {
    change(cache, OWNERS[type], (keys) => (entity ? including(keys, key) : without(keys, [key])))
  }
}

function removeOwner(result: DataFields, cache: Cache, type: keyof typeof OWNERS): void {
  const gone = payload(result, `delete${type}`)
  const id = gone?.[`deleted${type}Id`]
  if (!id) return
  const assignments = gone["deletedAssignmentIds"] as string[]
  drop(cache, OWNERS[type], [`${type}:${String(id)}`])
  drop(
    cache,
    "assignments",
    assignments.map((each) => `Assignment:${each}`),
  )
}

function drop(cache: Cache, field: string, gone: readonly Key[]): void {
  change(cache, field, (keys) => without(keys, gone))
}

const touches = ({ startDate, endDateExclusive }: Span, { from, to }: { from: string; to: string }): boolean =>
  startDate <= to && endDateExclusive > from

const including = (keys: Key[], key: Key): Key[] => (keys.includes(key) ? keys : [...keys, key])

const without = (keys: Key[], gone: readonly Key[]): Key[] =>
  keys.some((key) => gone.includes(key)) ? keys.filter((key) => !gone.includes(key)) : keys

/** Changes all lists of the team that are kept under this field, whatever their arguments. */
function change(
  cache: Cache,
  field: string,
  changed: (keys: Key[], args: { from: string; to: string }) => Key[],
): void {
  const team = cache.resolve("Query", "team") as Key | null
  if (!team) return
  for (const { fieldName, arguments: args } of cache.inspectFields(team)) {
    if (fieldName !== field) continue
    const keys = cache.resolve(team, field, args) as Key[]
    const changedKeys = changed(keys, (args ?? {}) as { from: string; to: string })
    if (changedKeys !== keys) cache.link(team, field, args, changedKeys)
  }
}

function payload(result: DataFields, field: string): Payload {
  return (result[field] ?? null) as Payload
}
