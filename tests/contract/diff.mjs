// What GraphQL Inspector finds changed between two schemas, worst first.
import { readFileSync } from "node:fs"
import { diff } from "@graphql-inspector/core"
import { buildSchema } from "graphql"

const { before, after } = JSON.parse(readFileSync(0, "utf8"))
const changes = await diff(buildSchema(before), buildSchema(after))
const told = changes.map(({ type, path, message, criticality }) => ({ type, path, message, level: criticality.level }))
console.log(JSON.stringify(told))
