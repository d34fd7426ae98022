/** The page's words in English; every other language has the same keys. */

const count = (number: number, one: string, many: string) => `${number} ${number === 1 ? one : many}`
const assignments = (number: number) => count(number, "assignment", "assignments")

export const en = {
  title: "Resource planner",
  language: "日本語",
  languageCode: "ja" as "en" | "ja",
  plan: "Plan",
  loading: "Loading the plan …",
  waiting: "Loading …",
  notLive: "Not live.",
  reconnecting: "Not live: reconnecting …",
  readOnly: "You may look at this plan, not change it.",
  close: "Close",
  cancel: "Cancel",
  save: "Save",
  saving: "Saving …",
  delete: "Delete",
  deleting: "Deleting …",

  navigation: "Days in view",
  today: "Today",
  previous: "Earlier",
  next: "Later",
  month: "Month",
  quarter: "Quarter",
  zoomIn: "Zoom in",
  zoomOut: "Zoom out",

  addAssignment: "Add assignment",
  addPerson: "Add person",
  addProject: "Add project",
  editAssignment: "Edit assignment",
  editPerson: "Edit person",
  editProject: "Edit project",
  person: "Person",
  project: "Project",
  projects: "Projects",
  firstDay: "First day",
  lastDay: "Last day (included)",
  note: "Note",
  name: "Name",
  colour: "Colour",

  emptyTitle: "Nobody is here to be planned yet",
  emptyPeople: "Add a person, then a project, then who works on what, when.",
  emptyProjects: "There is no project yet: add one to plan somebody for it.",

  missing: "Both days are needed.",
  reversed: "The last day is before the first.",
  outside: "Days go from 1900-01-01 to 9999-12-30.",
  blank: "A name is needed.",
  choosePerson: "Choose a person",
  chooseProject: "Choose a project",

  deleteAssignmentTitle: "Delete this assignment?",
  deleteAssignment: (project: string, person: string, days: string) => `${project}, ${person}, ${days}.`,
  deleteTitle: (name: string) => `Delete ${name}?`,
  counting: "Counting what would go with it …",
  dependents: (number: number) =>
    number === 0
      ? "No assignment goes with it. A deletion can't be undone."
      : `This deletes ${assignments(number)} as well, on whatever days. It can't be undone.`,

  saved: (what: string) => `${what} was saved.`,
  planned: (project: string, person: string, days: string) => `${person} is planned for ${project}, ${days}.`,
  created: (what: string) => `${what} was added.`,
  deleted: (what: string) => `${what} was deleted.`,
  movedTo: (project: string, person: string, days: string) => `${project}: ${person}, ${days}.`,

  bar: (project: string, person: string, days: string, note: string, overlaps: boolean) =>
    `${project}, ${person}, ${days}${note && `, ${note}`}${overlaps ? ", overlaps with another" : ""}`,
  unknownProject: "Unknown project",
  days: (number: number) => count(number, "day", "days"),

  overlaps: (number: number) => count(number, "overlap in view", "overlaps in view"),
  overlapsHint: "Somebody is planned more than once on the same day. That is a warning and blocks nothing.",
  overlap: (person: string, days: string, projects: string) => `${person}, ${days}: ${projects}`,

  unreadable: (number: number) =>
    `${count(number, "entry", "entries")} of the table can't be read and may be missing here. The server's log says which.`,

  notMoved: (project: string, person: string) => `${project}, ${person} was not changed.`,
  failures: {
    CONFLICT: "Somebody else changed it first. This is how it is now; try again if you still want to.",
    NOT_FOUND: "It is not there any more: somebody deleted it, or what it belongs to.",
    INVALID: "The server refused a value.",
    LIMIT_EXCEEDED: "That is more than the server answers at once. Show fewer days.",
    UNAUTHENTICATED: "You are signed out. Sign in, then load this page again.",
    FORBIDDEN: "You may not do this in this team.",
    BAD_USER_INPUT: "The server did not understand the request.",
    UNAVAILABLE: "The server can't reach its data right now. Try again in a moment.",
    INTERNAL: "The server failed.",
    OFFLINE: "The server can't be reached. Are you offline?",
  } as Record<string, string>,
  correlation: (id: string) => `For whoever runs the server: ${id}`,
  retry: "Try again",
  reload: "Load again",

  help: "Mouse and keyboard",
  helpMouse:
    "Drag a bar to move it, up or down to give it to somebody else; drag an end to change that day. Click a bar, a person's name or a project to edit it, or to delete it there. Drag the empty board to scroll; Ctrl and the wheel zoom.",
  keys: [
    ["Tab", "to the bars, and on from them"],
    ["↑ ↓", "the bar before, the bar after"],
    ["← →", "move by a day"],
    ["Shift ← →", "end a day earlier, a day later"],
    ["Alt ↑ ↓", "give to the person above, below"],
    ["Enter", "edit"],
    ["Delete", "delete"],
  ] as readonly (readonly [string, string])[],
}

export type Words = typeof en
