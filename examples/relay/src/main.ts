// Plans somebody, moves them, and deletes them; what the store then holds is read without asking
// the server again.
import { exit } from "node:process"

import {
  Environment,
  type FetchFunction,
  type GraphQLTaggedNode,
  type MutationParameters,
  Network,
  type OperationType,
  RecordSource,
  Store,
  commitMutation,
  createOperationDescriptor,
  fetchQuery,
  getRequest,
} from "relay-runtime"

import AddProject, { type AddProjectMutation } from "./__generated__/AddProjectMutation.graphql.js"
import AddResource, { type AddResourceMutation } from "./__generated__/AddResourceMutation.graphql.js"
import Assign, { type AssignMutation } from "./__generated__/AssignMutation.graphql.js"
import DeleteProject, { type DeleteProjectMutation } from "./__generated__/DeleteProjectMutation.graphql.js"
import DeleteResource, { type DeleteResourceMutation } from "./__generated__/DeleteResourceMutation.graphql.js"
import Move, { type MoveMutation } from "./__generated__/MoveMutation.graphql.js"
import Plan, { type PlanQuery } from "./__generated__/PlanQuery.graphql.js"

const url = process.env.PLANNER_URL ?? "http://127.0.0.1:8000/graphql"
const headers = {
  "content-type": "application/json",
  accept: "application/graphql-response+json, application/json",
  authorization: `Bearer ${process.env.PLANNER_TOKEN ?? ""}`,
}
let requests = 0

// With `persistConfig` the compiler leaves the text out, and the hash is the id.
const send: FetchFunction = async ({ text, id }, variables) => {
  requests += 1
  const body = JSON.stringify({ ...(text ? { query: text } : { documentId: id }), variables })
  const answer = await fetch(url, { method: "POST", headers, body })
  return answer.json()
}

const environment = new Environment({ network: Network.create(send), store: new Store(new RecordSource()) })

function query<Query extends OperationType>(node: GraphQLTaggedNode, variables: Query["variables"]) {
  return fetchQuery<Query>(environment, node, variables).toPromise() as Promise<Query["response"]>
}

function write<Mutation extends MutationParameters>(mutation: GraphQLTaggedNode, input: Mutation["variables"]["input"]) {
  return new Promise<Mutation["response"]>((resolve, reject) => {
    const variables = { input }
    commitMutation<Mutation>(environment, { mutation, variables, onCompleted: resolve, onError: reject })
  })
}

/** The query's data as the store has it now. */
function stored<Query extends OperationType>(node: GraphQLTaggedNode, variables: Query["variables"]) {
  const { fragment } = createOperationDescriptor(getRequest(node), variables)
  return environment.lookup(fragment).data as Query["response"]
}

async function tour() {
  const window = { from: "2026-03-01", to: "2026-03-31" }
  const { createResource } = await write<AddResourceMutation>(AddResource, { name: "Barbara Liskov" })
  const { createProject } = await write<AddProjectMutation>(AddProject, { name: "Types", color: "#2ca02c" })
  const resource = createResource?.resource
  const project = createProject?.project
  if (!resource || !project) throw new Error("refused")

  const { createAssignment } = await write<AssignMutation>(Assign, {
    resourceId: resource.id,
    projectId: project.id,
    startDate: "2026-03-02",
    endDate: "2026-03-06",
  })
  const id = createAssignment?.assignment?.id
  if (!id) throw new Error(createAssignment?.errors[0]?.message)
  const before = await query<PlanQuery>(Plan, window)
  console.log(`planned: ${before.team.assignments.find((each) => each.id === id)?.startDate}`)

  await write<MoveMutation>(Move, { id, startDate: "2026-03-09", endDate: "2026-03-13" })
  const asked = requests
  const moved = stored<PlanQuery>(Plan, window).team.assignments.find((each) => each.id === id)
  const without = requests === asked ? "without a request" : "with a request"
  console.log(`moved: ${moved?.startDate} to ${moved?.endDate}, ${without}`)

  const { deleteResource } = await write<DeleteResourceMutation>(DeleteResource, { id: resource.id })
  // A list has null in the place of a record that is gone, whatever its type says.
  const left = stored<PlanQuery>(Plan, window).team.assignments.filter(Boolean)
  console.log(`deleted, with ${deleteResource?.deletedAssignmentIds.length} assignment; left in the store: ${left.length}`)
  await write<DeleteProjectMutation>(DeleteProject, { id: project.id })
}

tour().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error)
  exit(1)
})
