/** What the page has to say, newest last. Failures stay until they are closed. */

import type { Failure } from "../lib/failures.ts"

export interface Message {
  key: number
  text: string
  failure: Failure | null
}

/** How long good news is shown, in milliseconds. */
const SHOWN = 6_000

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
    this.all = [...this.all.slice(-3), message]
    return message
  }
}
