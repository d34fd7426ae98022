// Mercurius on Fastify, with or without its JIT: see https://mercurius.dev/#/docs/api/options
import Fastify from "fastify"
import mercurius from "mercurius"
import { listening } from "./listening.mjs"
import { contextOf, resolvers, typeDefs } from "./timeline.mjs"

const app = Fastify({ logger: false })
app.register(mercurius, {
  schema: typeDefs,
  resolvers,
  context: (request) => contextOf(request.headers),
  jit: Number(process.env.BENCH_JIT ?? 0),
})
await app.listen({ host: "127.0.0.1", port: 0 })
listening(app.server.address().port)
