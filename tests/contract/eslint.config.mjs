// The rules for schema.graphql and the example operations: graphql-eslint's own recommendations,
// and its rules for Relay. What is not taken as it comes has its reason here.
import graphql from "@graphql-eslint/eslint-plugin"

const { configs, parser } = graphql
const shared = {
  plugins: { "@graphql-eslint": graphql },
  languageOptions: {
    parser,
    // One for both, since the plugin keeps the first that it is given.
    parserOptions: { graphQLConfig: { schema: "schema.graphql", documents: "operations/*.graphql" } },
  },
}

export default [
  {
    ...shared,
    files: ["schema.graphql"],
    rules: {
      ...configs["flat/schema-recommended"].rules,
      ...configs["flat/schema-relay"].rules,
      // Every field, argument and value is described too, not only types and root fields.
      "@graphql-eslint/require-description": [
        "error",
        {
          types: true,
          rootField: true,
          DirectiveDefinition: true,
          EnumValueDefinition: true,
          FieldDefinition: true,
          InputValueDefinition: true,
        },
      ],
      "@graphql-eslint/strict-id-in-types": [
        "error",
        {
          exceptions: {
            // The outcome of one write: nothing that could be asked for, or changed, again.
            suffixes: ["Payload"],
            types: [
              // Parts of a project; days worked out from assignments; a reason in a payload.
              "Link",
              "Overlap",
              "UserError",
              // What happened to what has an id; where it stands in a list; what a listener is told.
              "Change",
              "ChangeConnection",
              "ChangeEdge",
              "PageInfo",
              "TeamChanges",
            ],
          },
        },
      ],
      // The one connection is of changes, which have no end. All other lists are complete or an
      // error (docs/errors.md, LIMIT_EXCEEDED), never pages: a timeline wants the whole window. So a
      // list may wrap what is no edge; and a change is an event without an id, so no Node.
      // Newest first is the one way through them.
      "@graphql-eslint/relay-arguments": ["error", { includeBoth: false }],
      // `changedAt` and `changedBy` are when and by whom, as `createdAt` is: no prefix.
      "@graphql-eslint/no-typename-prefix": "off",
      "@graphql-eslint/relay-edge-types": [
        "error",
        { withEdgeSuffix: true, shouldImplementNode: false, listTypeCanWrapOnlyEdgeType: false },
      ],
    },
  },
  {
    ...shared,
    files: ["operations/*.graphql"],
    rules: configs["flat/operations-recommended"].rules,
  },
]
