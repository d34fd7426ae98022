/** The language of the page: the browser's, until the user takes another, which is then kept. */

import { timeOf, type Day } from "../lib/days.ts"
import { en, type Words } from "./en.ts"
import { ja } from "./ja.ts"

export type Language = "en" | "ja"

const KEPT = "planner-timeline/language"
const WORDS: Record<Language, Words> = { en, ja }

class Chosen {
  current = $state<Language>(initial())
  words = $derived(WORDS[this.current])
  private formats = $derived(formatsOf(this.current))

  choose(language: Language): void {
    this.current = language
    try {
      localStorage.setItem(KEPT, language)
    } catch {
      // Storage is off: the choice lasts as long as the page.
    }
  }

  /** A span of days as people write it. */
  span(from: Day, to: Day): string {
    return this.formats.span.formatRange(timeOf(from), timeOf(to))
  }

  /** A label of the axis. */
  axis(time: number, parts: "month" | "shortMonth" | "year"): string {
    return this.formats[parts].format(time)
  }
}

function initial(): Language {
  let kept: string | null = null
  try {
    kept = localStorage.getItem(KEPT)
  } catch {
    // Storage is off.
  }
  if (kept === "en" || kept === "ja") return kept
  return navigator.language.startsWith("ja") ? "ja" : "en"
}

/** Days are midnights in UTC here, so UTC is where they are formatted. */
function formatsOf(language: Language) {
  const locale = language === "en" ? "en-GB" : "ja-JP"
  const format = (options: Intl.DateTimeFormatOptions) =>
    new Intl.DateTimeFormat(locale, { timeZone: "UTC", ...options })
  return {
    span: format({ year: "numeric", month: "short", day: "numeric" }),
    shortMonth: format({ month: "short" }),
    month: format({ year: "numeric", month: "long" }),
    year: format({ year: "numeric" }),
  }
}

// First strong isolate, pop directional isolate: Unicode Standard Annex 9.
const [ISOLATE, END] = [0x2068, 0x2069].map((point) => String.fromCodePoint(point))

/** A name within a sentence: one that is written from right to left does not turn the rest around. */
export const isolated = (name: string): string => `${ISOLATE}${name}${END}`

export const language = new Chosen()
