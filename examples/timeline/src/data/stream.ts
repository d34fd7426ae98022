/**
 * How subscriptions come: as server-sent events, which get through wherever other answers do. What ended is
 * not begun again here, since that takes another cursor: see live.svelte.ts.
 */

import { subscriptionExchange } from "@urql/core"
import { createClient, type RequestParams, type Sink } from "graphql-sse"

/** The server says something every 15 seconds, if only that it is there. Without a word for so long, in
 * milliseconds, the connection is dead, though nobody has said so: as after a night's sleep. */
const LONGEST_SILENCE = 45_000

export function streamExchange(url: string) {
  const client = createClient({ url, credentials: "same-origin", retryAttempts: 0, fetchFn: listened })
  return subscriptionExchange({
    forwardSubscription: (request) => ({
      subscribe: (sink) => ({ unsubscribe: client.subscribe(request as RequestParams, sink as Sink) }),
    }),
  })
}

/** `fetch`, whose answer fails when nothing of it comes for too long, and at its end: graphql-sse waits for
 * ever when an answer ends without the event `complete` while an event is being looked at. */
async function listened(url: string, options: RequestInit): Promise<Response> {
  const silent = new AbortController()
  let timer = setTimeout(() => silent.abort(), LONGEST_SILENCE)
  const signal = AbortSignal.any([options.signal!, silent.signal])
  signal.addEventListener("abort", () => clearTimeout(timer))
  const response = await fetch(url, { ...options, signal })
  const heard = new TransformStream<Uint8Array, Uint8Array>({
    transform(part, controller) {
      clearTimeout(timer)
      timer = setTimeout(() => silent.abort(), LONGEST_SILENCE)
      controller.enqueue(part)
    },
    flush(controller) {
      clearTimeout(timer)
      controller.error(new Error("the answer has ended"))
    },
  })
  return new Response(response.body!.pipeThrough(heard), response)
}
