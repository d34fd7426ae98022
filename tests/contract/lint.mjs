// What graphql-eslint says of schema.graphql and operations/ in the folder that is named.
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { ESLint } from "eslint"

const { folder } = JSON.parse(readFileSync(0, "utf8"))
process.chdir(folder)
const config = join(import.meta.dirname, "eslint.config.mjs")
const eslint = new ESLint({ cwd: folder, overrideConfigFile: config })
const results = await eslint.lintFiles(["schema.graphql", "operations/*.graphql"])
const told = results.flatMap(({ filePath, messages }) =>
  messages.map(({ ruleId, message, line }) => ({ file: filePath.slice(folder.length + 1), line, rule: ruleId, message })),
)
console.log(JSON.stringify({ files: results.length, told }))
