import { createServer } from 'node:http'

/** The ceiling of a POST: node:http that takes the body in, parses it, and answers as many bytes as a fee has. */
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
server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  if (address !== null && typeof address === 'object') {
    process.stdout.write(`listening on http://127.0.0.1:${address.port}\n`)
  }
})
