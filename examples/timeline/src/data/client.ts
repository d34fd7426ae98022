/** The one client of the API. The session is the page's own cookie. */

import { Client, fetchExchange } from "@urql/core"

import { normalisedCache } from "./cache.ts"

export const createClient = () =>
  new Client({
    url: "/graphql",
    exchanges: [normalisedCache(), fetchExchange],
    fetchOptions: { credentials: "same-origin" },
    preferGetMethod: false,
  })
