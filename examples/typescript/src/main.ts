// A tour in types: reads the plan, adds somebody who works on something, moves them, and tidies up.
import { exit } from "node:process"

import { connect } from "./client.js"
import {
  CreateAssignmentDocument,
  CreateProjectDocument,
  CreateResourceDocument,
  DeleteProjectDocument,
  DeleteResourceDocument,
  TimelineDocument,
  UpdateAssignmentDocument,
  type UserErrorCode,
} from "./gql/graphql.js"

const client = connect({
  url: process.env.PLANNER_URL ?? "http://127.0.0.1:8000/graphql",
  token: process.env.PLANNER_TOKEN ?? "",
  trusted: process.argv.includes("--trusted"),
})

/** The data of an answer. Throws what the server or the network says instead. */
function ok<Data>({ data, error }: { data?: Data | undefined; error?: Error | undefined }): Data {
  if (error) throw error
  if (!data) throw new Error("an answer without data")
  return data
}

/** What a write returned. Throws a refusal, of which nothing was written. */
function done<Payload extends { errors: { code: UserErrorCode; message: string }[] }>(payload: Payload | null): Payload {
  const refused = payload?.errors[0]
  if (refused) throw new Error(`${refused.code}: ${refused.message}`)
  if (!payload) throw new Error("a write without an outcome")
  return payload
}

async function tour() {
  // A window of days, both inclusive. A `Date` is a string: "2026-03-01".
  const window = { from: "2026-03-01", to: "2026-03-31" }
  const read = async () => ok(await client.query(TimelineDocument, window)).team

  const team = await read()
  console.log(`${team.name}: ${team.resources.length} people, ${team.projects.length} projects`)

  const { createResource } = ok(await client.mutation(CreateResourceDocument, { input: { name: "Grace Hopper" } }))
  const resource = done(createResource).resource!
  const { createProject } = ok(
    await client.mutation(CreateProjectDocument, { input: { name: "Compiler", color: "#1f77b4" } }),
  )
  const project = done(createProject).project!

  const { createAssignment } = ok(
    await client.mutation(CreateAssignmentDocument, {
      input: { resourceId: resource.id, projectId: project.id, startDate: "2026-03-02", endDate: "2026-03-06" },
    }),
  )
  const created = done(createAssignment).assignment!
  console.log(`${created.resource?.name} on ${created.project?.name}: ${created.startDate} to ${created.endDate}`)

  const { updateAssignment } = ok(
    await client.mutation(UpdateAssignmentDocument, {
      input: { id: created.id, startDate: "2026-03-09", endDate: "2026-03-13", expectedVersion: created.version },
    }),
  )
  done(updateAssignment)
  // From the cache, which knows what the mutations have changed.
  const moved = (await read()).assignments.find(({ id }) => id === created.id)
  console.log(`moved: ${moved?.startDate} to ${moved?.endDate}`)

  const { deleteResource } = ok(await client.mutation(DeleteResourceDocument, { input: { id: resource.id } }))
  console.log(`deleted, with ${done(deleteResource).deletedAssignmentIds.length} assignment`)
  const { deleteProject } = ok(await client.mutation(DeleteProjectDocument, { input: { id: project.id } }))
  done(deleteProject)
}

tour().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error)
  exit(1)
})
