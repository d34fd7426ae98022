// Apollo Server in Express: see https://www.apollographql.com/docs/apollo-server/api/express-middleware
import http from "node:http"
import { ApolloServer } from "@apollo/server"
import { ApolloServerPluginDrainHttpServer } from "@apollo/server/plugin/drainHttpServer"
import { expressMiddleware } from "@as-integrations/express5"
import express from "express"
import { listening } from "./listening.mjs"
import { contextOf, resolvers, typeDefs } from "./timeline.mjs"

const app = express()
const httpServer = http.createServer(app)
const server = new ApolloServer({
  typeDefs,
  resolvers,
  plugins: [ApolloServerPluginDrainHttpServer({ httpServer })],
})
await server.start()
app.use(
  "/graphql",
  express.json(),
  expressMiddleware(server, { context: async ({ req }) => contextOf(req.headers) }),
)
httpServer.listen(0, "127.0.0.1", () => listening(httpServer.address().port))
