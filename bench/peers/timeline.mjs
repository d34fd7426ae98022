// The resolvers of every peer: one read of the table for a whole operation, relations by look-up in
// maps of the request, synchronous resolvers below the team.
import { readFileSync } from "node:fs"
import { v7 as uuid } from "uuid"
import { putOwned, query } from "./table.mjs"

export const typeDefs = readFileSync(new URL("schema.graphql", import.meta.url), "utf8")

// Whether a window is read as ranges of keys, as our server may, or cut out of the whole partition.
const RANGED = process.env.BENCH_RANGED === "true"
const LONG_DAYS = 62
const DAY = 86_400_000

/** What each request has: its team, and its own maps. */
export const contextOf = (headers) => ({
  team: headers["x-team"],
  resources: new Map(),
  projects: new Map(),
})

const globalId = (type, id) => Buffer.from(`${type}:${id}`).toString("base64url")
const dayAfter = (day, days) => new Date(Date.parse(day) + days * DAY).toISOString().slice(0, 10)

/** Tells the items of a read apart, makes ids global once each, and fills the request's maps. */
function split(items, context) {
  const parts = { resources: [], projects: [], assignments: [] }
  for (const item of items) {
    switch (item.EntityType) {
      case "Assignment":
        item.id = globalId("Assignment", item.id)
        parts.assignments.push(item)
        break
      case "Resource":
        context.resources.set(item.id, item)
        item.id = globalId("Resource", item.id)
        parts.resources.push(item)
        break
      case "Project":
        context.projects.set(item.id, item)
        item.id = globalId("Project", item.id)
        parts.projects.push(item)
        break
    }
  }
  return parts
}

const isIn = (from, to) => (each) =>
  (!to || each.startDate <= to) && (!from || each.endDateExclusive > from)

const bySortKey = (a, b) => (a.sk < b.sk ? -1 : 1)

/** Both Queries of a window. What began before the range is long, and in the index. */
async function assignmentsIn(context, from, to) {
  const reachBack = dayAfter(from, 1 - LONG_DAYS)
  const [long, others] = await Promise.all([
    query(
      context.team,
      "#longEnd > :from",
      { ":from": from, ":reachBack": reachBack },
      { filter: "#startDate < :reachBack", index: "byLongEnd" },
    ),
    query(
      context.team,
      "#sk BETWEEN :low AND :high",
      { ":low": `ASN#${reachBack}`, ":high": `ASN#${to}$`, ":from": from },
      { filter: "#endDateExclusive > :from" },
    ),
  ])
  return split(long.sort(bySortKey).concat(others), context).assignments
}

async function team(_root, _arguments, context, info) {
  const fields = info.fieldNodes[0].selectionSet.selections
  const wants = new Set(fields.map((field) => field.name?.value))
  const window = fields.some((field) => field.arguments?.length > 0)
  if (RANGED && window) {
    const owners = query(context.team, "#sk BETWEEN :low AND :high", {
      ":low": "PRJ#",
      ":high": "RES$",
    }).then((items) => split(items, context))
    return { ranged: true, owners }
  }
  if (wants.size === 1 && wants.has("resources"))
    return split(await query(context.team, "begins_with(#sk, :sk)", { ":sk": "RES#" }), context)
  return split(await query(context.team), context)
}

async function createAssignment(_root, { input }, context) {
  const [resourceId, projectId] = [
    rawId("Resource", input.resourceId),
    rawId("Project", input.projectId),
  ]
  const now = new Date().toISOString()
  const id = uuid()
  const endDateExclusive = dayAfter(input.endDate, 1)
  const item = {
    pk: `TEAM#${context.team}`,
    sk: `ASN#${input.startDate}#${id}`,
    EntityType: "Assignment",
    id,
    version: 1,
    createdAt: now,
    updatedAt: now,
    resourceId,
    projectId,
    startDate: input.startDate,
    endDateExclusive,
  }
  if (input.note != null) item.note = input.note
  if (Date.parse(endDateExclusive) - Date.parse(input.startDate) > LONG_DAYS * DAY)
    item.longEnd = endDateExclusive
  const owners = [`RES#${resourceId}`, `PRJ#${projectId}`]
  const codes = await putOwned(context.team, owners, item, uuid())
  const errors = ["resource", "project"]
    .filter((_, index) => codes[index] === "ConditionalCheckFailed")
    .map((name) => ({
      code: "NOT_FOUND",
      field: [`${name}Id`],
      message: `there is no such ${name}`,
    }))
  if (codes[2] === "ConditionalCheckFailed")
    errors.push({ code: "CONFLICT", field: ["id"], message: "this id is used" })
  if (codes.length > 0 && errors.length === 0) throw new Error("the table is busy")
  return {
    assignment: errors.length ? null : { ...item, id: globalId("Assignment", id) },
    errors,
  }
}

function rawId(type, id) {
  const [name, raw] = Buffer.from(id, "base64url").toString().split(":")
  return name === type ? raw : ""
}

export const resolvers = {
  Query: { team },
  Mutation: { createAssignment },
  Team: {
    id: (_team, _arguments, context) => globalId("Team", context.team),
    resources: (team) =>
      team.ranged ? team.owners.then((owners) => owners.resources) : team.resources,
    projects: (team) => (team.ranged ? team.owners.then((owners) => owners.projects) : team.projects),
    assignments: async (team, { from, to }, context) => {
      if (team.ranged) {
        const [assignments] = await Promise.all([assignmentsIn(context, from, to), team.owners])
        return assignments
      }
      return from || to ? team.assignments.filter(isIn(from, to)) : team.assignments
    },
  },
  Assignment: {
    endDate: (assignment) => dayAfter(assignment.endDateExclusive, -1),
    resourceId: (assignment) => globalId("Resource", assignment.resourceId),
    projectId: (assignment) => globalId("Project", assignment.projectId),
    resource: (assignment, _arguments, context) => context.resources.get(assignment.resourceId),
    project: (assignment, _arguments, context) => context.projects.get(assignment.projectId),
  },
}
