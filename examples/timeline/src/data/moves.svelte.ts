/**
 * Moves and new lengths of bars, shown before the server has answered. A draft lies over what the cache
 * has until its answer is there; then the cache has the new place, or, after a refusal, the bar is back
 * where it was.
 */

import type { Client } from "@urql/core"
import { SvelteMap } from "svelte/reactivity"

import { AgainDocument, UpdateAssignmentDocument } from "../gql/graphql.ts"
import { GONE, failureOf, refusal, type Failure } from "../lib/failures.ts"
import { isSamePlace, placed, placeOf, type Assignment, type Place } from "../lib/plan.ts"
import type { Plan } from "./plan.svelte.ts"

/** A place that is shown and not stored yet, and the assignment as it was when it was taken from its own: what
 * others have made of it since is a conflict. */
interface Draft {
  taken: Assignment
  place: Place
}

/** How long keys may follow each other before what they add up to is sent, in milliseconds. */
const KEYS_PAUSE = 400

export class Moves {
  private client: Client
  private plan: Plan
  private failed: (assignment: Assignment, failure: Failure) => void
  private drafts = new SvelteMap<string, Draft>()
  private timers = new Map<string, ReturnType<typeof setTimeout>>()
  /** What is on its way: one update of an assignment at a time, since each names a version. */
  private sending = new Set<string>()

  /** The assignments as they are to be shown. */
  readonly shown: readonly Assignment[]

  constructor(
    client: Client,
    plan: Plan,
    failed: (assignment: Assignment, failure: Failure) => void,
  ) {
    this.client = client
    this.plan = plan
    this.failed = failed
    this.shown = $derived(
      [...plan.assignments.values()].map((each) => {
        const draft = this.drafts.get(each.id)
        return draft ? placed(each, draft.place) : each
      }),
    )
  }

  /** Puts the bar there. With a pause, further moves within it go to the server as one. */
  place(bar: Assignment, place: Place, pause: "keys" | "none" = "none"): void {
    const { id } = bar
    this.drafts.set(id, { taken: this.drafts.get(id)?.taken ?? bar, place })
    clearTimeout(this.timers.get(id))
    if (pause === "none") void this.send(id)
    else this.timers.set(id, setTimeout(() => void this.send(id), KEYS_PAUSE))
  }

  /** Sends what still waits for further keys. */
  flush(): void {
    for (const id of [...this.timers.keys()]) void this.send(id)
  }

  private async send(id: string): Promise<void> {
    clearTimeout(this.timers.get(id))
    this.timers.delete(id)
    const draft = this.drafts.get(id)
    if (!draft || this.sending.has(id)) return // Its answer sends what came meanwhile.
    const { taken, place } = draft
    const stored = this.plan.assignments.get(id)
    if (!stored) {
      this.drafts.delete(id)
      this.failed(taken, GONE)
      return
    }
    if (isSamePlace(place, placeOf(taken)) || isSamePlace(place, placeOf(stored))) {
      this.drafts.delete(id)
      return
    }
    this.sending.add(id)
    const written = await this.update(draft)
    this.sending.delete(id)
    const latest = this.drafts.get(id)
    if ("code" in written) {
      this.drafts.delete(id)
      this.failed(taken, written)
    } else if (!latest || latest.place === place) this.drafts.delete(id)
    else {
      this.drafts.set(id, { taken: written, place: latest.place })
      if (!this.timers.has(id)) await this.send(id)
    }
    void this.plan.showOverlaps()
  }

  private async update({ taken, place }: Draft): Promise<Assignment | Failure> {
    const { id, version, resourceId } = taken
    const moved = place.resourceId === resourceId ? {} : { resourceId: place.resourceId }
    const { startDate, endDate } = place
    const input = { id, expectedVersion: version, startDate, endDate, ...moved }
    const { data, error } = await this.client
      .mutation(UpdateAssignmentDocument, { input })
      .toPromise()
    if (error) return failureOf(error)
    const { assignment, errors } = data!.updateAssignment!
    const failure = refusal(errors)
    if (failure) await lookAgain(this.client, this.plan, id, failure)
    return failure ?? assignment!
  }
}

/** After a refusal: what has that id is shown as it is now, and is gone if it is not there any more. */
export async function lookAgain(
  client: Client,
  plan: Plan,
  id: string,
  { code }: Failure,
): Promise<void> {
  if (code !== "CONFLICT" && code !== "NOT_FOUND") return
  await client.query(AgainDocument, { id }, { requestPolicy: "network-only" }).toPromise()
  // It may be the person or the project that is gone.
  if (code === "NOT_FOUND") plan.refresh()
}
