// What graphql-ws and graphql-sse make of live updates: each change as a line, until the last. Each connection
// is to the next of the servers, and goes on where the one before was lost.
import { readFileSync } from "node:fs"
import { createClient as createSSE } from "graphql-sse"
import { createClient as createWS } from "graphql-ws"
import WebSocket from "ws"

const { client, urls, token, query, last } = JSON.parse(readFileSync(0, "utf8"))
const authorization = `Bearer ${token}`
const at = []
const next = () => {
  at.push(urls[Math.min(at.length, urls.length - 1)])
  return at.at(-1)
}
const tell = (told) => process.stdout.write(`${JSON.stringify(told)}\n`)

const made =
  client === "graphql-ws"
    ? createWS({
        url: () => next().replace("http", "ws"),
        webSocketImpl: WebSocket,
        connectionParams: { authorization },
        retryWait: async () => {},
      })
    : createSSE({ url: next, headers: { authorization }, retry: async () => {} })

// Both libraries send it anew with each connection, as it is then.
const variables = { since: null }
const stop = made.subscribe(
  { query, variables },
  {
    next({ data, errors }) {
      if (errors) return tell({ errors })
      const { cursor, changes } = data.teamChanged
      const began = variables.since === null
      variables.since = cursor
      if (began) tell({ began })
      for (const { entity } of changes) {
        tell({ name: entity.name })
        if (entity.name === last) stop()
      }
    },
    error: (error) => tell({ error: String(error?.message ?? error?.reason ?? error) }),
    complete() {
      tell({ complete: true, connections: at.length })
      if (client === "graphql-ws") made.dispose()
    },
  },
)
