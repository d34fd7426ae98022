// What `npm run generate` writes to src/gql/: types, documents, persisted-documents.json and the
// schema for the cache.
import type { CodegenConfig } from "@graphql-codegen/cli"
import { addTypenameSelectionDocumentTransform } from "@graphql-codegen/client-preset"

const config: CodegenConfig = {
  schema: "../../schema.graphql",
  documents: "../operations/*.graphql",
  importExtension: ".js",
  generates: {
    "src/gql/": {
      preset: "client",
      presetConfig: { fragmentMasking: false, persistedDocuments: { hashAlgorithm: "sha256" } },
      // The cache needs `__typename`, and a server of trusted documents answers what they say.
      documentTransforms: [addTypenameSelectionDocumentTransform],
      config: {
        // A scalar without a line here is an error, not `any`.
        strictScalars: true,
        scalars: { Date: "string" },
        enumsAsTypes: true,
        useTypeImports: true,
      },
    },
    "src/gql/schema.json": { plugins: ["introspection"], config: { minify: true, descriptions: false } },
  },
}
export default config
