/**
 * What the board shows: the team and all assignments of the days that have been looked at. Each answer
 * stays subscribed to the cache, so whatever changes there (by a mutation's answer, or by what others do) is on
 * the board at once.
 */

import type { Client, OperationResult, RequestPolicy } from "@urql/core"
import { SvelteMap } from "svelte/reactivity"

import {
  OverlapsDocument,
  TimelineDocument,
  WindowDocument,
  type Role,
  type WindowQuery,
} from "../gql/graphql.ts"
import type { Span } from "../lib/days.ts"
import { failureOf, type Failure } from "../lib/failures.ts"
import { merged, type Assignment, type Overlap, type Person, type Project } from "../lib/plan.ts"
import { missing, withMargin } from "../lib/windows.ts"

interface Warning {
  code: string
  count: number
}

interface Team {
  name: string
  people: readonly Person[]
  projects: readonly Project[]
  role: Role
}

/** A span that was asked for; the first of them brings the team along. */
interface Asked {
  span: Span
  withTeam: boolean
  stop: () => void
}

/** How long after a change of somebody else overlaps are asked for, in milliseconds: one moves many. */
const OVERLAPS_PAUSE = 400

const keyOf = ({ from, to }: Span) => `${from}/${to}`

export class Plan {
  private client: Client
  team = $state.raw<Team | null>(null)
  overlaps = $state.raw<readonly Overlap[]>([])
  failure = $state.raw<Failure | null>(null)
  /** How many answers are being waited for. */
  waiting = $state(0)
  private answers = new SvelteMap<string, readonly Assignment[]>()
  private warned = new SvelteMap<string, readonly Warning[]>()
  private asked = new Map<string, Asked>()
  private seen: Span | null = null
  private overlapsAsked = 0
  private overlapsTimer: ReturnType<typeof setTimeout> | null = null

  assignments: ReadonlyMap<string, Assignment> = $derived(merged(this.answers.values()))
  /** How many items of the table couldn't be read. One Query may be behind several answers, so the
   * largest count is the one that is true of at least one. */
  unreadable = $derived(
    Math.max(0, ...[...this.warned.values()].map((all) => all.reduce((sum, { count }) => sum + count, 0))),
  )
  canWrite = $derived(this.team !== null && this.team.role !== "VIEWER")

  constructor(client: Client) {
    this.client = client
  }

  /** Sees to it that these days are on the board, and what is around them. */
  show(seen: Span): void {
    this.seen = seen
    const loaded = [...this.asked.values()].map(({ span }) => span)
    for (const span of missing(loaded, withMargin(seen))) this.ask(span)
    void this.showOverlaps()
  }

  /** Asks again for what failed. */
  retry(): void {
    this.failure = null
    if (this.seen) this.show(this.seen)
  }

  /** Asks for everything again: somebody else has changed more than one object. */
  refresh(): void {
    for (const [key, { span, stop }] of [...this.asked]) {
      stop()
      this.asked.delete(key)
      this.ask(span, "network-only")
    }
    void this.showOverlaps()
  }

  /** Asks who is planned more than once on the days in view; after each change, too. */
  async showOverlaps(): Promise<void> {
    if (!this.seen) return
    const asked = ++this.overlapsAsked
    const answer = await this.client
      .query(OverlapsDocument, withMargin(this.seen), { requestPolicy: "network-only" })
      .toPromise()
    // A warning only: when it can't be had, what was known stays.
    if (asked === this.overlapsAsked && answer.data) this.overlaps = answer.data.team.overlaps
  }

  /** The same, after a while in which others may change more. */
  showOverlapsSoon(): void {
    this.overlapsTimer ??= setTimeout(() => {
      this.overlapsTimer = null
      void this.showOverlaps()
    }, OVERLAPS_PAUSE)
  }

  private ask(span: Span, requestPolicy: RequestPolicy = "cache-first"): void {
    const key = keyOf(span)
    const withTeam = ![...this.asked.values()].some((each) => each.withTeam)
    let waits = true
    const settle = () => {
      if (waits) this.waiting -= 1
      waits = false
    }
    const take = (result: OperationResult<WindowQuery>) => {
      settle()
      if (result.error) {
        this.failure = failureOf(result.error)
        this.asked.get(key)?.stop()
        this.asked.delete(key)
      } else if (result.data) {
        const warnings = result.extensions?.["warnings"] as Warning[] | undefined
        if (warnings) this.warned.set(key, warnings)
        this.answers.set(key, result.data.team.assignments)
      }
    }
    this.waiting += 1
    const { unsubscribe } = withTeam
      ? this.client.query(TimelineDocument, span, { requestPolicy }).subscribe((result) => {
          take(result)
          if (!result.data) return
          const { team, viewer } = result.data
          const { name, resources: people, projects } = team
          this.team = { name, people, projects, role: viewer.role }
        })
      : this.client.query(WindowDocument, span, { requestPolicy }).subscribe(take)
    const stop = () => {
      settle()
      unsubscribe()
    }
    this.asked.set(key, { span, withTeam, stop })
  }
}
