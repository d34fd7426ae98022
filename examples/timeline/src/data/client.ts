/** The one client of the API. The session is the page's own cookie. */

import { Client, fetchExchange } from "@urql/core"

import { normalisedCache } from "./cache.ts"
import { orderExchange } from "./order.ts"
import { streamExchange } from "./stream.ts"

const URL = "/graphql"

export const createClient = () =>
  new Client({
    url: URL,
    exchanges: [normalisedCache(), orderExchange, streamExchange(URL), fetchExchange],
    fetchOptions: { credentials: "same-origin" },
    preferGetMethod: false,
  })
