// Starts GraphiQL. A file of its own, so that the page needs no inline script.
(() => {
  "use strict";

  const query = `# A team's whole timeline: one request, and one DynamoDB Query behind it.
# Ctrl-Enter runs it. The days of the window are below, under Variables; both count.
query Timeline($from: Date!, $to: Date!) {
  team {
    id
    name
    resources {
      id
      name
    }
    projects {
      id
      name
      color
    }
    assignments(from: $from, to: $to) {
      id
      startDate
      endDate
      resource {
        name
      }
      project {
        name
      }
      note
    }
  }
}
`;

  // The day as the user's calendar has it: toISOString() would give the one in Greenwich.
  const localDay = (offset) => {
    const day = new Date();
    day.setDate(day.getDate() + offset);
    const month = String(day.getMonth() + 1).padStart(2, "0");
    return `${day.getFullYear()}-${month}-${String(day.getDate()).padStart(2, "0")}`;
  };
  const variables = JSON.stringify({ from: localDay(-30), to: localDay(60) }, null, 2);

  const logo = React.createElement(GraphiQL.Logo, null, "Resource planner");
  const editor = React.createElement(
    GraphiQL,
    {
      // Same origin, so the session cookie goes along.
      fetcher: GraphiQL.createFetcher({ url: location.pathname }),
      defaultQuery: query,
      defaultTabs: [{ query, variables }],
      defaultEditorToolsVisibility: "variables",
      shouldPersistHeaders: false,
    },
    logo,
  );
  ReactDOM.createRoot(document.getElementById("graphiql")).render(editor);
})();
