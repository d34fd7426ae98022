// GraphQL Yoga on Node's own server: see https://the-guild.dev/graphql/yoga-server/docs/integrations/integration-with-node
import { createServer } from "node:http"
import { createSchema, createYoga } from "graphql-yoga"
import { listening } from "./listening.mjs"
import { contextOf, resolvers, typeDefs } from "./timeline.mjs"

const yoga = createYoga({
  schema: createSchema({ typeDefs, resolvers }),
  context: ({ request }) => contextOf({ "x-team": request.headers.get("x-team") }),
  logging: false,
  graphiql: false,
  landingPage: false,
})
const server = createServer(yoga)
server.listen(0, "127.0.0.1", () => listening(server.address().port))
