import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { listen } from './listen.ts'

/**
 * The ceiling for a GET: bare node:http that answers every request with the same body and headers
 * from memory. Usage: bare-server.ts BODY_FILE HEADERS_FILE
 */
const body = readFileSync(process.argv[2] ?? '')
const headers = JSON.parse(readFileSync(process.argv[3] ?? '', 'utf8'))
const server = createServer((_request, response) => {
  response.writeHead(200, headers)
  response.end(body)
})
listen(server)
