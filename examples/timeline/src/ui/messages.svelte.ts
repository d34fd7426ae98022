/** What the page has to say, newest last: the failures, until they are closed, and the last good news. */

import type { Failure } from "../lib/failures.ts"

export interface Message {
  key: number
  text: string
  failure: Failure | null
}

/** How long good news is shown, in milliseconds. */
const SHOWN = 6_000

const SHOWN_AT_ONCE = 3

export class Messages {
  all = $state.raw<readonly Message[]>([])
  private last = 0

  say(text: string): void {
    const { key } = this.add(text, null)
    setTimeout(() => this.close(key), SHOWN)
  }

  /** Says what failed; `text` says of what. */
  fail(failure: Failure, text = ""): void {
    this.add(text, failure)
  }

  close(key: number): void {
    this.all = this.all.filter((each) => each.key !== key)
  }

  private add(text: string, failure: Failure | null): Message {
    const message = { key: ++this.last, text, failure }
    const failures = this.all.filter((each) => each.failure)
    this.all = [...failures.slice(-SHOWN_AT_ONCE), message]
    return message
  }
}
