// The `graphql` of this schema. A scalar without a line here is `unknown`.
import { initGraphQLTada } from "gql.tada"

import type { introspection } from "./graphql-env.js"

export const graphql = initGraphQLTada<{
  introspection: introspection
  scalars: { Date: string }
  disableMasking: true
}>()

export type { FragmentOf, ResultOf, VariablesOf } from "gql.tada"
