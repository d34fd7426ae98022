// One request of a test to the real Auth.js: JSON on stdin, JSON on stdout.
//   {op: "encode", token, secret, salt, maxAge} -> {token, cookies: [[name, value], ...]}
//   {op: "decode", token, secret, salt}         -> the claims
//   {op: "read", headers, secret, secureCookie} -> the claims, or null: what a frontend does
import { decode, encode, getToken } from "@auth/core/jwt"
// Not exported, hence by path: it is what splits a long token into chunked cookies.
import { SessionStore } from "./node_modules/@auth/core/lib/utils/cookie.js"

const silent = { debug() {}, warn() {}, error() {} }

const operations = {
  async encode({ token: claims, secret, salt, maxAge }) {
    const token = await encode({ token: claims, secret, salt, maxAge })
    const store = new SessionStore({ name: salt, options: {} }, {}, silent)
    return { token, cookies: store.chunk(token, {}).map(({ name, value }) => [name, value]) }
  },
  decode({ token, secret, salt }) {
    return decode({ token, secret, salt })
  },
  read({ headers, secret, secureCookie }) {
    return getToken({ req: { headers }, secret, secureCookie, logger: silent })
  },
}

let input = ""
for await (const chunk of process.stdin) input += chunk
const request = JSON.parse(input)
process.stdout.write(JSON.stringify(await operations[request.op](request)))
