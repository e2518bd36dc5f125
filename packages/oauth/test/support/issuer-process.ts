/** An OAuth 2 server in its own process. It signs any claims, and fails as a test orders. */
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { exportJWK, generateKeyPair, importJWK, type JWK, SignJWT } from 'jose'

type Order = { claims?: object; header?: object; mode?: string }

let count = 0
async function makeKey() {
  count += 1
  const kid = `ext-${count}`
  const pair = await generateKeyPair('RS256', { extractable: true })
  const jwk: JWK = { ...(await exportJWK(pair.publicKey)), kid, alg: 'RS256', use: 'sig' }
  return { kid, jwk, privateJwk: await exportJWK(pair.privateKey) }
}

let key = await makeKey()
let mode = 'good'
let asked = 0

function answerKeys(response: ServerResponse): void {
  asked += 1
  const send = (status: number, body: unknown, headers = {}) =>
    response.writeHead(status, headers).end(JSON.stringify(body))
  const modes: Record<string, () => unknown> = {
    good: () => send(200, { keys: [key.jwk] }),
    failing: () => send(500, {}),
    redirecting: () => send(302, {}, { location: '/elsewhere' }),
    huge: () => send(200, { keys: [key.jwk], padding: 'x'.repeat(400_000) }),
    'no set': () => send(200, [1, 2]),
    secret: () => send(200, { keys: [{ kty: 'oct', k: 'c2VjcmV0', kid: key.kid }] }),
    broken: () => send(200, { keys: [{ kty: 'RSA', n: 'AQAB', e: 'AQAB', kid: key.kid }] }),
  }
  modes[mode]?.()
}

// JSON has no undefined, so null removes a member.
const withoutNulls = (members: object) =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== null))

const server = createServer(async (request, response) => {
  const url = `http://${request.headers.host}`
  const order = request.method === 'POST' ? ((await json(request)) as Order) : {}
  switch (request.url) {
    case '/keys':
    case '/elsewhere':
      return answerKeys(response)
    case '/.well-known/openid-configuration':
      return response.end(JSON.stringify({ issuer: url, jwks_uri: `${url}/keys` }))
    case '/sign': {
      const good = { alg: 'RS256', typ: 'at+jwt', kid: key.kid }
      const header = { alg: '', ...withoutNulls({ ...good, ...order.header }) }
      const claims = withoutNulls({ iss: url, ...order.claims })
      const token = new SignJWT(claims).setProtectedHeader(header)
      const signer = await importJWK(key.privateJwk, header.alg)
      return response.end(JSON.stringify({ token: await token.sign(signer), asked }))
    }
    case '/rotate':
      key = await makeKey()
      return response.end('{}')
    case '/mode':
      mode = order.mode ?? 'good'
      return response.end('{}')
    default:
      return response.writeHead(404).end()
  }
})
server.listen(0, '127.0.0.1', () => {
  console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
})
