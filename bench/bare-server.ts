import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { listen } from './listen.ts'

/**
 * The ceiling: node:http answering the same bytes from memory, header lines included, whatever is asked.
 * Usage: bare-server.ts BODY_FILE HEADERS_FILE
 */
const body = readFileSync(process.argv[2] ?? '')
const headers = JSON.parse(readFileSync(process.argv[3] ?? '', 'utf8'))
const server = createServer((_request, response) => {
  response.writeHead(200, headers)
  response.end(body)
})
listen(server)
