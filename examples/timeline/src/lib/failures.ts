/** What went wrong, of whatever kind, as one value that can be shown in any language. */

import type { CombinedError } from "@urql/core"

/** `code`: of the API, see docs/errors.md, or `OFFLINE` when no answer came. */
export interface Failure {
  code: string
  message: string
  correlationId: string | null
}

export interface Reason {
  code: string
  message: string
}

/** Of what somebody else has deleted meanwhile. */
export const GONE: Failure = { code: "NOT_FOUND", message: "", correlationId: null }

const BY_STATUS: Record<number, string> = { 401: "UNAUTHENTICATED", 403: "FORBIDDEN", 503: "UNAVAILABLE" }

/** The failure behind an answer with GraphQL errors, or behind none. */
export function failureOf(error: CombinedError): Failure {
  const refused = error.networkError as { response?: Response } | undefined // as graphql-sse has it
  const response = (error.response as Response | undefined) ?? refused?.response
  const correlation = response?.headers?.get("X-Correlation-Id") ?? null
  const [first] = error.graphQLErrors
  if (first) {
    const { code, correlationId } = first.extensions as { code?: string; correlationId?: string }
    return {
      code: code ?? "INTERNAL",
      message: first.message,
      correlationId: correlationId ?? correlation,
    }
  }
  const code = response ? (BY_STATUS[response.status] ?? "INTERNAL") : "OFFLINE"
  return { code, message: error.networkError?.message ?? error.message, correlationId: correlation }
}

/** The failure of a write that was refused. */
export const refusal = ([first]: readonly Reason[]): Failure | null =>
  first ? { code: first.code, message: first.message, correlationId: null } : null
