/** How the chart looks and behaves. It counts in UTC throughout: a day is a day wherever it is seen. */

import Hammer from "@egjs/hammerjs"
import moment from "moment"
import type { Timeline, TimelineOptions } from "vis-timeline/esnext"

import { DAY_MS, FIRST_DAY, LAST_DAY, dayAt, nearestDay, timeOf, today } from "../lib/days.ts"
import { language } from "../i18n/language.svelte.ts"

// Weeks begin on Monday, in both languages.
moment.updateLocale("en", { week: { dow: 1, doy: 4 } })

/** What the axis has lines for, and whether each line of a day has its number. */
export type Axis = "numbered days" | "days" | "weeks" | "months"

/** The narrowest that a day may be for each, in pixels: the number of every day fits; weekends can be told
 * from the days between; the number of each Monday fits. */
const NUMBER_WIDTH = 22
const DAY_WIDTH = 8
const WEEK_WIDTH = 5

/** The axis for days of that width. */
export function axisOf(dayWidth: number): Axis {
  if (dayWidth >= NUMBER_WIDTH) return "numbered days"
  if (dayWidth >= DAY_WIDTH) return "days"
  return dayWidth >= WEEK_WIDTH ? "weeks" : "months"
}

const SCALES: Record<Axis, string> = { "numbered days": "day", days: "day", weeks: "week", months: "month" }

export function axisOptionsOf(axis: Axis): TimelineOptions {
  return {
    timeAxis: { scale: SCALES[axis], step: 1 },
    format: { minorLabels: axis === "days" ? sparse : minor, majorLabels: major },
  } as TimelineOptions
}

export function optionsOf(canWrite: boolean): TimelineOptions {
  return {
    moment: (date: Parameters<typeof moment.utc>[0]) => moment.utc(date),
    min: timeOf(FIRST_DAY),
    max: timeOf(LAST_DAY),
    zoomMin: 14 * DAY_MS,
    zoomMax: 800 * DAY_MS,
    zoomKey: "ctrlKey",
    horizontalScroll: false,
    verticalScroll: true,
    orientation: { axis: "top", item: "top" },
    height: "100%",
    margin: { axis: 6, item: { horizontal: 0, vertical: 4 } },
    groupOrder: "order",
    selectable: false,
    showCurrentTime: false,
    showTooltips: false,
    showMajorLabels: true,
    dataAttributes: ["id"],
    editable: { add: false, remove: false, updateTime: canWrite, updateGroup: canWrite },
    itemsAlwaysDraggable: { item: canWrite, range: canWrite },
    snap: (date: Date) => new Date(timeOf(nearestDay(date.getTime()))),
    groupTemplate: (row?: { id: string; content: string }) => (row ? rowName(row) : ""),
    template: (item?: { content?: string }) => text(item?.content ?? ""),
  } as TimelineOptions
}

function minor(date: Date, scale: string): string {
  const time = date.valueOf()
  if (scale === "month") return language.axis(time, "shortMonth")
  const day = dayAt(time)
  const label = String(Number(day.slice(8)))
  // The library also marks the first of a month that begins within a week: two labels in one place.
  if (scale === "week") return isMonday(time) ? label : ""
  return day === today() ? `<mark>${label}</mark>` : label
}

/** Of days too narrow for all their numbers: Mondays, and today with no Monday beside it. */
function sparse(date: Date, scale: string): string {
  const time = date.valueOf()
  const away = Math.abs(time - timeOf(today())) / DAY_MS
  return away === 0 || (isMonday(time) && away > 2) ? minor(date, scale) : ""
}

const isMonday = (time: number): boolean => new Date(time).getUTCDay() === 1

function major(date: Date, scale: string): string {
  return language.axis(date.valueOf(), scale === "month" ? "year" : "month")
}

/** Names are text, never markup; and some are written from right to left. */
function text(content: string): HTMLElement {
  const element = document.createElement("span")
  element.dir = "auto"
  element.textContent = content
  return element
}

function rowName({ id, content }: { id: string; content: string }): HTMLElement {
  const button = document.createElement("button")
  button.type = "button"
  button.className = "row-name"
  button.dataset["person"] = id
  button.append(text(content))
  return button
}

interface Internals {
  itemSet: { hammer: { get: (name: "pan") => { set: (options: { direction: number }) => void } } }
}

/** Lets the drag of a bar begin in any direction. The library means to, but names a constant that there is
 * not (`Hammer.ALL`): bars that are pulled straight up or down would stay where they are. */
export function draggableUpAndDown(timeline: Timeline): void {
  const { hammer } = (timeline as unknown as Internals).itemSet
  hammer.get("pan").set({ direction: Hammer.DIRECTION_ALL })
}
