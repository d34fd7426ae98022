// Says where a peer listens, and ends it with the benchmark: its stdin closes when that is gone.
export function listening(port) {
  console.log(`listening on 127.0.0.1:${port}`)
  process.stdin.resume().on("end", () => process.exit())
}
