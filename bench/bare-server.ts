import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'

/** The ceiling: node:http answering the same bytes from memory, whatever is asked. Usage: bare-server.ts BODY_FILE */
const body = readFileSync(process.argv[2] ?? '')
const server = createServer((_request, response) => {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length })
  response.end(body)
})
server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  if (address !== null && typeof address === 'object') {
    process.stdout.write(`listening on http://127.0.0.1:${address.port}\n`)
  }
})
