// What a frontend with a configuration of the documents does with a browser's request.
//   {op: "read", config, cookie}         -> {body, cookies}: GET /auth/session
//   {op: "update", config, cookie, data} -> the same for update(data): POST /auth/session
// `config` is the strategy, `cookies` what the browser is told to keep: [[name, value], ...].
import { Auth, setEnvDefaults } from "@auth/core"

async function session({ config, cookie, data }) {
  const { default: documented } = await import(`./auth-${config}.mjs`)
  const options = { ...documented, trustHost: true, basePath: "/auth", logger: { error: fail } }
  setEnvDefaults(process.env, options) // As SvelteKitAuth does.
  const url = "http://frontend.test/auth/session"
  if (data === undefined) return answer(await Auth(new Request(url, { headers: { cookie } }), options))
  const csrf = await answer(await Auth(new Request("http://frontend.test/auth/csrf"), options))
  const headers = {
    "content-type": "application/json",
    cookie: [cookie, ...csrf.cookies.map(([name, value]) => `${name}=${value}`)].join("; "),
  }
  const body = JSON.stringify({ csrfToken: csrf.body.csrfToken, data })
  return answer(await Auth(new Request(url, { method: "POST", headers, body }), options))
}

async function answer(response) {
  const cookies = response.headers.getSetCookie().map((line) => line.split(";")[0].split(/=(.*)/s))
  return { body: await response.json(), cookies: cookies.map(([name, value]) => [name, value]) }
}

function fail(error) {
  console.error(error)
  process.exit(1)
}

let input = ""
for await (const chunk of process.stdin) input += chunk
process.stdout.write(JSON.stringify(await session(JSON.parse(input))))
