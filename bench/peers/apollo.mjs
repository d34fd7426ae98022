// Apollo Server, standalone: see https://www.apollographql.com/docs/apollo-server/api/standalone
import { ApolloServer } from "@apollo/server"
import { startStandaloneServer } from "@apollo/server/standalone"
import { listening } from "./listening.mjs"
import { contextOf, resolvers, typeDefs } from "./timeline.mjs"

const server = new ApolloServer({ typeDefs, resolvers })
const { url } = await startStandaloneServer(server, {
  listen: { host: "127.0.0.1", port: 0 },
  context: async ({ req }) => contextOf(req.headers),
})
listening(new URL(url).port)
