// A client of urql, which keeps each object once, by `__typename` and `id`.
import { Client, fetchExchange } from "@urql/core"
import { persistedExchange } from "@urql/exchange-persisted"

import { cache } from "./cache.js"

export interface Options {
  url: string
  /** A session token. A page on the API's own site needs none: its cookie goes along. */
  token?: string
  /** Send hashes instead of documents, to a server with PLANNER_TRUSTED_DOCUMENTS. */
  trusted?: boolean
  fetch?: typeof fetch
}

export function connect({ url, token, trusted = false, fetch = globalThis.fetch }: Options): Client {
  return new Client({
    url,
    fetch,
    fetchOptions: token ? { headers: { authorization: `Bearer ${token}` } } : {},
    preferGetMethod: false,
    exchanges: trusted ? [cache(), hashes, fetchExchange] : [cache(), fetchExchange],
  })
}

// The hash that the document has in persisted-documents.json.
const hashes = persistedExchange({
  enforcePersistedQueries: true,
  enableForMutation: true,
  preferGetForPersistedQueries: false,
  generateHash: async (_, document) => (document as { __meta__?: { hash: string } }).__meta__?.hash,
})
