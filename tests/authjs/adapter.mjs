// Calls of a test to the real @auth/dynamodb-adapter, as the documents configure it.
//   {op: "adapter", calls: [[method, argument], ...]} -> [result, ...]
//   {op: "membershipOf", userId, wanted}              -> the membership, or null
// `expires` in an argument is epoch milliseconds.
import { adapter, membershipOf } from "./database.mjs"

const operations = {
  async adapter({ calls }) {
    const results = []
    for (const [method, argument] of calls) {
      const dated = argument.expires ? { ...argument, expires: new Date(argument.expires) } : argument
      results.push((await adapter[method](dated)) ?? null)
    }
    return results
  },
  async membershipOf({ userId, wanted }) {
    return (await membershipOf(userId, wanted)) ?? null
  },
}

let input = ""
for await (const chunk of process.stdin) input += chunk
const request = JSON.parse(input)
process.stdout.write(JSON.stringify(await operations[request.op](request)))
