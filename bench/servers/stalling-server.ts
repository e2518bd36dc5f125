import { createServer } from 'node:http'
import { listen } from './listen.ts'

/** Answers at once, except that it stops once for a while. Usage: stalling-server.ts AFTER MS */
const [after, ms] = process.argv.slice(2).map(Number)
const nothing = new Int32Array(new SharedArrayBuffer(4))
let requests = 0
const server = createServer((_request, response) => {
  requests += 1
  if (requests === after) Atomics.wait(nothing, 0, 0, ms)
  response.writeHead(200, { 'content-length': 2 })
  response.end('ok')
})
listen(server)
