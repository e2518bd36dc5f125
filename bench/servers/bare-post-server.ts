import { createServer } from 'node:http'
import { listen } from './listen.ts'

/** The ceiling for a POST: bare node:http that parses the body and answers a fee's size. */
const body = Buffer.from(JSON.stringify({ answer: 'x'.repeat(220) }))
const server = createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk) => chunks.push(chunk))
  request.on('end', () => {
    JSON.parse(Buffer.concat(chunks).toString())
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length })
    response.end(body)
  })
})
listen(server)
