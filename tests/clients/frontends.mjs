// What urql and Apollo Client make of an answer: the errors as their users see them.
import { readFileSync } from "node:fs"
import { ApolloClient, CombinedGraphQLErrors, HttpLink, InMemoryCache, ServerError } from "@apollo/client"
import { Client, fetchExchange } from "@urql/core"
import { parse } from "graphql"

const { url, client, token, query, variables } = JSON.parse(readFileSync(0, "utf8"))
const headers = token ? { authorization: `Bearer ${token}` } : {}
const isMutation = query.trimStart().startsWith("mutation")
const told = ({ message, extensions = {} }) => ({ message, code: extensions.code ?? null })

async function urql() {
  const made = new Client({ url, exchanges: [fetchExchange], fetchOptions: { headers }, preferGetMethod: false })
  const run = isMutation ? made.mutation(query, variables) : made.query(query, variables)
  const { data, error } = await run.toPromise()
  return {
    data: data ?? null,
    errors: error?.graphQLErrors.map(told) ?? [],
    network: error?.networkError?.message ?? null,
    status: error?.response?.status ?? null,
  }
}

async function apollo() {
  const made = new ApolloClient({ link: new HttpLink({ uri: url, headers }), cache: new InMemoryCache() })
  const document = parse(query)
  try {
    const run = isMutation
      ? made.mutate({ mutation: document, variables })
      : made.query({ query: document, variables, fetchPolicy: "no-cache" })
    const { data } = await run
    return { data, errors: [], network: null, status: null }
  } catch (error) {
    if (CombinedGraphQLErrors.is(error)) {
      return { data: null, errors: error.errors.map(told), network: null, status: null }
    }
    if (ServerError.is(error)) {
      // What is no answer of GraphQL by its media type is an error with the body as it came.
      const { errors = [] } = JSON.parse(error.bodyText)
      return { data: null, errors: errors.map(told), network: error.message, status: error.statusCode }
    }
    throw error
  }
}

console.log(JSON.stringify(await (client === "urql" ? urql() : apollo())))
