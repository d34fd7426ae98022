// Pages of urql over the example's client, and what each shows after each mutation, with how many
// requests that took. Says so too when the cache has something to complain about.
import { connect } from "./dist/client.js"
import * as gql from "./dist/gql/graphql.js"

const complaints = []
for (const level of ["warn", "error"]) console[level] = (...said) => complaints.push(said.join(" "))

let requests = 0
let underWay = 0
const client = connect({
  url: process.env.PLANNER_URL,
  token: process.env.PLANNER_TOKEN,
  fetch: async (...request) => {
    requests += 1
    underWay += 1
    try {
      return await fetch(...request)
    } finally {
      underWay -= 1
    }
  },
})

const pages = {}
const write = async (document, input) => {
  const { data, error } = await client.mutation(document, { input })
  if (error) throw error
  return Object.values(data).find((value) => typeof value === "object")
}
const watch = (name, document, variables, show) =>
  new Promise((resolve, reject) => {
    client.query(document, variables).subscribe(({ data, error, stale }) => {
      if (error) return reject(error)
      pages[name] = show(data)
      if (!stale) resolve()
    })
  })
const ids = (objects) => objects.map(({ id }) => id)
const days = (assignments) => assignments.map(({ id, startDate }) => `${startDate} ${id}`)

const steps = {}
const step = async (name, action) => {
  const before = requests
  const done = await action()
  // A page that fetches again has sent its request before a whole round trip is over; all have
  // their answers when one passes without any other.
  for (let seen = -1; seen !== requests || underWay; ) {
    seen = requests
    await client.query(gql.ViewerDocument, {}, { requestPolicy: "network-only" })
    requests -= 1
  }
  steps[name] = { requests: requests - before, ...structuredClone(pages) }
  return done
}

const ada = (await write(gql.CreateResourceDocument, { name: "Ada" })).resource.id
const bridge = (await write(gql.CreateProjectDocument, { name: "Bridge", color: "#336699" })).project.id
const march = { from: "2026-03-01", to: "2026-03-31" }
const april = { from: "2026-04-01", to: "2026-04-30" }

await step("opened", async () => {
  await watch("march", gql.TimelineDocument, march, ({ team }) => days(team.assignments))
  await watch("april", gql.AssignmentsDocument, april, ({ team }) => days(team.assignments))
  await watch("people", gql.ResourcesDocument, {}, ({ team }) => ids(team.resources))
  await watch("projects", gql.ProjectsDocument, {}, ({ team }) => ids(team.projects))
  await watch("ada", gql.ResourcePlanDocument, { id: ada, ...march }, ({ node }) => node && days(node.assignments))
  await watch("bridge", gql.ProjectPlanDocument, { id: bridge }, ({ node }) => node && days(node.assignments))
})
const plan = (startDate, endDate) => ({ resourceId: ada, projectId: bridge, startDate, endDate })
const [one, two] = await step("created", async () => [
  (await write(gql.CreateAssignmentDocument, plan("2026-03-09", "2026-03-13"))).assignment.id,
  (await write(gql.CreateAssignmentDocument, plan("2026-03-02", "2026-03-06"))).assignment.id,
])
await step("moved", () => write(gql.UpdateAssignmentDocument, { id: one, startDate: "2026-03-30", endDate: "2026-04-02" }))
await step("moved out", () =>
  write(gql.UpdateAssignmentsDocument, { patches: [{ id: two, startDate: "2026-04-06", endDate: "2026-04-10" }] }),
)
await step("refused", () => write(gql.UpdateAssignmentDocument, { id: one, startDate: "2026-05-01" }))
const grace = (await step("somebody added", () => write(gql.CreateResourceDocument, { name: "Grace" }))).resource.id
await step("handed over", () => write(gql.UpdateAssignmentDocument, { id: one, resourceId: grace }))
await step("feeds opened", () =>
  watch("feeds", gql.CalendarFeedsDocument, {}, ({ viewer }) => ids(viewer.calendarFeeds)),
)
const feed = (await step("feed made", () => write(gql.CreateCalendarFeedDocument, { subjectId: grace }))).calendarFeed.id
await step("feed revoked", () => write(gql.DeleteCalendarFeedDocument, { id: feed }))
await step("cascade", () => write(gql.DeleteResourceDocument, { id: grace }))
await step("shifted", () => write(gql.ShiftProjectDocument, { id: bridge, days: 1 }))
await step("overlaps opened", () =>
  watch("overlaps", gql.OverlapsDocument, april, ({ team }) => team.overlaps.map(({ startDate }) => startDate)),
)
const three = (await step("overlapping", () => write(gql.CreateAssignmentDocument, plan("2026-04-09", "2026-04-20")))).assignment.id
await step("deleted", () => write(gql.DeleteAssignmentDocument, { id: three }))
await step("project deleted", () => write(gql.DeleteProjectDocument, { id: bridge }))

console.log(JSON.stringify({ steps, complaints, ids: { ada, grace, bridge, one, two, three, feed } }))
