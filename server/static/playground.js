// Starts GraphiQL. A file of its own, so that the page needs no inline script.
(() => {
  "use strict";

  // GraphiQL's dialogs read this name when they add a style element; the CSP wants the nonce.
  window.__webpack_nonce__ = document.currentScript.nonce;

  const query = `# A team's whole timeline, by one DynamoDB Query.
# Ctrl-Enter runs it. The window is in the variables below;
# both of its days are included.
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

  // A corner of our own: whatever else was served at this address has left its queries here.
  const mine = (key) => `planner/${key}`;
  const storage = {
    getItem: (key) => localStorage.getItem(mine(key)),
    setItem: (key, value) => localStorage.setItem(mine(key), value),
    removeItem: (key) => localStorage.removeItem(mine(key)),
    clear: () => Object.keys(localStorage)
      .filter((key) => key.startsWith(mine("")))
      .forEach((key) => localStorage.removeItem(key)),
    get length() {
      return localStorage.length;
    },
  };

  // GraphiQL takes up its editors' text from here. An example that nobody has edited moves on with
  // the calendar, in the saved tabs too; otherwise it would show an ever older window.
  const saved = (name) => storage.getItem(`graphiql:${name}`);
  const shown = storage.getItem("example");
  const tabs = saved("tabState");
  if (tabs === null || (saved("query") === query && saved("variables") === shown)) {
    if (tabs !== null) {
      const moved = tabs.replaceAll(JSON.stringify(shown), JSON.stringify(variables));
      storage.setItem("graphiql:tabState", moved);
    }
    storage.setItem("graphiql:query", query);
    storage.setItem("graphiql:variables", variables);
    storage.setItem("example", variables);
  }

  // Subscriptions go over WebSocket, to the same address.
  const socket = new URL(location.pathname, location.href);
  socket.protocol = location.protocol === "https:" ? "wss:" : "ws:";

  const logo = React.createElement(GraphiQL.Logo, null, "Resource planner");
  const editor = React.createElement(
    GraphiQL,
    {
      // Same origin, so the session cookie goes along.
      fetcher: GraphiQL.createFetcher({
        url: location.pathname,
        subscriptionUrl: socket.href,
      }),
      storage,
      defaultQuery: query,
      defaultTabs: [{ query, variables }],
      defaultEditorToolsVisibility: "variables",
      shouldPersistHeaders: false,
    },
    logo,
  );
  // The editors take their keys by hidden text fields, which GraphiQL leaves without names.
  const named = () => {
    for (const field of document.querySelectorAll(".CodeMirror textarea:not([aria-label])")) {
      const section = field.closest("section[aria-label]");
      field.setAttribute("aria-label", section ? section.getAttribute("aria-label") : "Editor");
    }
  };
  new MutationObserver(named).observe(document.body, { childList: true, subtree: true });
  ReactDOM.createRoot(document.getElementById("graphiql")).render(editor);
})();
