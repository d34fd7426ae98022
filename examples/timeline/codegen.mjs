// Writes src/gql/: the types of the operations in src/operations/, by GraphQL Code Generator's client
// preset. Called as a library: its command line brings three hundred packages for what is not used here.
import { mkdir, readFile, readdir, rm, writeFile } from "node:fs/promises"
import { dirname } from "node:path"

import { codegen } from "@graphql-codegen/core"
import { preset } from "@graphql-codegen/client-preset"
import { buildASTSchema, parse } from "graphql"

const SCHEMA = "../../schema.graphql"
const OPERATIONS = "src/operations/"
const OUTPUT = "src/gql/"

const schema = parse(await readFile(SCHEMA, "utf8"))
const documents = await Promise.all(
  (await readdir(OPERATIONS)).sort().map(async (name) => {
    const rawSDL = await readFile(OPERATIONS + name, "utf8")
    return { location: OPERATIONS + name, rawSDL, document: parse(rawSDL) }
  }),
)
const sections = await preset.buildGeneratesSection({
  baseOutputDir: OUTPUT,
  schema,
  schemaAst: buildASTSchema(schema),
  documents,
  config: { strictScalars: true, scalars: { Date: "string", ID: { input: "string", output: "string" } }, enumsAsTypes: true, useTypeImports: true },
  presetConfig: { fragmentMasking: false },
  plugins: [],
  pluginMap: {},
})
await rm(OUTPUT, { recursive: true, force: true })
for (const section of sections) {
  await mkdir(dirname(section.filename), { recursive: true })
  await writeFile(section.filename, await codegen(section))
}
