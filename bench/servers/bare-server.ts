import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { listen } from './listen.ts'

/**
 * The ceiling for a GET: bare node:http that answers every request with the same body and headers
 * from memory. Usage: bare-server.ts FILE
 */
const { headers, bodies } = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8'))
const answers = Object.fromEntries(
  Object.entries<string>(bodies).map(([name, text]) => {
    const body = Buffer.from(text)
    const own = { ...Object.fromEntries(headers), 'content-length': body.length }
    return [`/${name}`, { body, headers: own }]
  }),
)
const server = createServer((request, response) => {
  const answer = answers[request.url ?? '']
  response.writeHead(answer === undefined ? 404 : 200, answer?.headers)
  response.end(answer?.body)
})
listen(server)
