// Adds somebody, reads them back, and deletes them: all typed by the documents themselves.
import { exit } from "node:process"

import { Client, fetchExchange } from "@urql/core"

import { type FragmentOf, graphql } from "./graphql.js"

const AssignmentFields = graphql(`
  fragment AssignmentFields on Assignment {
    id
    startDate
    endDate
    resource { id name }
    project { id name }
  }
`)

const Timeline = graphql(
  `
    query Timeline($from: Date!, $to: Date!) {
      team { id resources { id name } assignments(from: $from, to: $to) { ...AssignmentFields } }
    }
  `,
  [AssignmentFields],
)

const Create = graphql(`
  mutation CreateResource($input: CreateResourceInput!) {
    createResource(input: $input) { resource { id name } errors { code message } }
  }
`)

const Delete = graphql(`
  mutation DeleteResource($input: DeleteInput!) {
    deleteResource(input: $input) { deletedResourceId deletedAssignmentIds errors { code message } }
  }
`)

const client = new Client({
  url: process.env.PLANNER_URL ?? "http://127.0.0.1:8000/graphql",
  fetchOptions: { headers: { authorization: `Bearer ${process.env.PLANNER_TOKEN ?? ""}` } },
  preferGetMethod: false,
  exchanges: [fetchExchange],
})

const days = ({ startDate, endDate }: FragmentOf<typeof AssignmentFields>): string => `${startDate} to ${endDate}`

async function tour() {
  const added = await client.mutation(Create, { input: { name: "Katherine Johnson" } })
  const resource = added.data?.createResource?.resource
  if (!resource) throw added.error ?? new Error(added.data?.createResource?.errors[0]?.message)
  console.log(`added ${resource.name}`)

  const { data, error } = await client.query(Timeline, { from: "2026-03-01", to: "2026-03-31" })
  if (!data) throw error
  const found = data.team.resources.find(({ id }) => id === resource.id)
  console.log(`read ${found?.name}, among ${data.team.assignments.map(days).length} assignments`)

  const deleted = await client.mutation(Delete, { input: { id: resource.id } })
  console.log(`deleted ${deleted.data?.deleteResource?.deletedResourceId === resource.id}`)
}

tour().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error)
  exit(1)
})
