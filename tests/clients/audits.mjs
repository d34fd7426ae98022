// Runs the audits of GraphQL over HTTP against a server, as somebody who is signed in.
import { readFileSync } from "node:fs"
import { auditServer } from "graphql-http"

const { url, token } = JSON.parse(readFileSync(0, "utf8"))

const fetchFn = (input, init = {}) => {
  const headers = new Headers(init.headers)
  headers.set("authorization", `Bearer ${token}`)
  return fetch(input, { ...init, headers })
}

const results = await auditServer({ url, fetchFn })
const told = results.map(({ id, name, status, reason = null }) => ({ id, name, status, reason }))
console.log(JSON.stringify(told))
