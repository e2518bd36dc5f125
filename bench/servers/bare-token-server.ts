import { generateKeyPairSync, sign } from 'node:crypto'
import { createServer } from 'node:http'
import { listen } from './listen.ts'

/**
 * The ceiling for a token: bare node:http that parses the form, signs the claims of a known token
 * in place (ES256), and answers the same bytes and headers. Usage: bare-token-server.ts ANSWER
 */
const { headers, body } = JSON.parse(process.argv[2] ?? '')
const { access_token: known, ...rest } = body
const signed = known.slice(0, known.lastIndexOf('.'))
const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const server = createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk) => chunks.push(chunk))
  request.on('end', () => {
    const form = new URLSearchParams(Buffer.concat(chunks).toString())
    const isGrant = form.get('grant_type') === 'client_credentials'
    const pair = { key: privateKey, dsaEncoding: 'ieee-p1363' } as const
    const signature = sign('sha256', Buffer.from(signed), pair).toString('base64url')
    const answer = JSON.stringify({ access_token: `${signed}.${signature}`, ...rest })
    const own = { ...Object.fromEntries(headers), 'content-length': Buffer.byteLength(answer) }
    response.writeHead(isGrant ? 200 : 400, own)
    response.end(answer)
  })
})
listen(server)
