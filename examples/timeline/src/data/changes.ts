/** What forms write. Each returns why it was not written, or null. */

import type { Client } from "@urql/core"
import { v7 as uuid } from "uuid"

import {
  CreateAssignmentDocument,
  CreateProjectDocument,
  CreateResourceDocument,
  DeleteAssignmentDocument,
  DeleteProjectDocument,
  DeleteResourceDocument,
  DependentsDocument,
  UpdateAssignmentDocument,
  UpdateProjectDocument,
  UpdateResourceDocument,
} from "../gql/graphql.ts"
import { failureOf, refusal, type Failure, type Reason } from "../lib/failures.ts"
import type { Assignment, Person, Project } from "../lib/plan.ts"
import { lookAgain } from "./moves.svelte.ts"
import type { Plan } from "./plan.svelte.ts"

/** What the form of an assignment holds. */
export type Entry = Pick<Assignment, "resourceId" | "projectId" | "startDate" | "endDate"> & {
  note: string
}

/** A row or a colour of the board, with the assignments that hang on it. */
export type Owner = ({ type: "Resource" } & Person) | ({ type: "Project" } & Project)

/** What the form of a person or a project holds; people have no colour. */
export type OwnerEntry = Pick<Project, "name" | "color">

type Payload = { errors: readonly Reason[] } | null
type Settled = { data?: Record<string, unknown> | undefined; error?: Parameters<typeof failureOf>[0] | undefined }

/** An id for something new, so that sending it again makes no second one. UUIDs of version 7 are in order
 * of time, as lists are. */
export const newId = (): string => uuid()

export class Changes {
  private client: Client
  private plan: Plan

  constructor(client: Client, plan: Plan) {
    this.client = client
    this.plan = plan
  }

  async createAssignment(id: string, entry: Entry): Promise<Failure | null> {
    const input = { id, ...entry, note: entry.note.trim() || null }
    return this.settled(await this.client.mutation(CreateAssignmentDocument, { input }).toPromise())
  }

  async updateAssignment(based: Assignment, entry: Entry): Promise<Failure | null> {
    const input = { id: based.id, expectedVersion: based.version, ...entry, note: entry.note.trim() || null }
    const failure = this.settled(
      await this.client.mutation(UpdateAssignmentDocument, { input }).toPromise(),
    )
    if (failure) await lookAgain(this.client, this.plan, based.id, failure)
    return failure
  }

  async deleteAssignment(id: string): Promise<Failure | null> {
    return this.settled(
      await this.client.mutation(DeleteAssignmentDocument, { input: { id } }).toPromise(),
    )
  }

  async createOwner(type: Owner["type"], id: string, { name, color }: OwnerEntry): Promise<Failure | null> {
    return this.settled(
      type === "Resource"
        ? await this.client.mutation(CreateResourceDocument, { input: { id, name } }).toPromise()
        : await this.client.mutation(CreateProjectDocument, { input: { id, name, color } }).toPromise(),
    )
  }

  async updateOwner({ type, id, version }: Owner, { name, color }: OwnerEntry): Promise<Failure | null> {
    const input = { id, expectedVersion: version, name }
    const failure = this.settled(
      type === "Resource"
        ? await this.client.mutation(UpdateResourceDocument, { input }).toPromise()
        : await this.client.mutation(UpdateProjectDocument, { input: { ...input, color } }).toPromise(),
    )
    if (failure) await lookAgain(this.client, this.plan, id, failure)
    return failure
  }

  async deleteOwner({ type, id }: Owner): Promise<Failure | null> {
    const variables = { input: { id } }
    const failure = this.settled(
      type === "Resource"
        ? await this.client.mutation(DeleteResourceDocument, variables).toPromise()
        : await this.client.mutation(DeleteProjectDocument, variables).toPromise(),
    )
    if (failure?.code === "NOT_FOUND") this.plan.refresh()
    return failure
  }

  /** How many assignments would go with it, on whatever days; or why that can't be told. */
  async dependents({ id }: Owner): Promise<number | Failure> {
    const { data, error } = await this.client
      .query(DependentsDocument, { id }, { requestPolicy: "network-only" })
      .toPromise()
    if (error) return failureOf(error)
    const node = data?.node
    return node && "assignments" in node ? node.assignments.length : 0
  }

  private settled({ data, error }: Settled): Failure | null {
    if (error) return failureOf(error)
    const [payload] = Object.values(data ?? {}) as Payload[]
    const failure = refusal(payload?.errors ?? [])
    if (!failure) void this.plan.showOverlaps()
    return failure
  }
}
