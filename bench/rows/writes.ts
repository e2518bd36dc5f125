import type { Config } from '@bursar/base'
import { customerScopes } from '@bursar/contract'
import { encodeAddress } from '../../packages/sandbox/src/encode-address.ts'
import { callUrl, fetchToken } from '../../test/support/harness.ts'
import { type Listening, startProcess } from '../../test/support/server-process.ts'
import type { Row } from '../report.ts'
import { makeClient } from '../world.ts'
import { runWrk } from '../wrk.ts'
import { ownHeaders } from './reads.ts'

/** The cost of a quote grows with the client's open ones, so many clients ask. */
const CLIENTS = 300
const FEES = '/v2/transfer/fees/crypto-withdrawal'
const TOKEN = '/oauth2/token'

type Writes = {
  readonly config: Config
  readonly service: Listening
  readonly seconds: number
  readonly goal: number
}

/** Fee quotes, each on disk before it is answered, and tokens. */
export async function writeRows({ config, service, seconds, goal }: Writes): Promise<Row[]> {
  const clients: Awaited<ReturnType<typeof makeClient>>[] = []
  for (let at = 0; at < CLIENTS; at += 1) {
    clients.push(await makeClient(config, { scopes: customerScopes }))
  }
  const tokens: string[] = []
  for (const client of clients) tokens.push(await fetchToken(service.url, client))
  const bare = await startProcess(['bench/servers/bare-post-server.ts'])
  const quotes = Array.from({ length: 3000 }, (_, at) => ({
    path: FEES,
    body: quoteBody(at),
    token: at % CLIENTS,
  }))
  const json = { 'content-type': 'application/json' }
  const quoteRate = async (url: string) =>
    (await runWrk({ url, tokens, requests: quotes, headers: json, seconds, connections: 64 })).rate
  const tokenOf = tokenLoad(await makeClient(config, { scopes: customerScopes }))
  const bareToken = await startBareToken(service.url, tokenOf.headers)
  const tokenRate = async (url: string) => (await runWrk({ url, ...tokenOf, seconds })).rate
  return [
    {
      name: 'fee quote, durable',
      goal,
      reference: '/s bare POST',
      unit: '/s',
      measure: async () => ({
        theirs: await quoteRate(bare.url),
        ours: await quoteRate(service.url),
      }),
    },
    {
      name: 'token',
      goal: 0.6,
      reference: '/s bare POST that signs',
      unit: '/s',
      measure: async () => ({
        theirs: await tokenRate(bareToken.url),
        ours: await tokenRate(service.url),
      }),
    },
  ]
}

const FORM = 'grant_type=client_credentials'

/** Requests for tokens of one client. */
export function tokenLoad({ clientId, clientSecret }: Awaited<ReturnType<typeof makeClient>>) {
  const headers = {
    authorization: `Basic ${btoa(`${clientId}:${clientSecret}`)}`,
    'content-type': 'application/x-www-form-urlencoded',
  }
  return { tokens: [], headers, requests: [{ path: TOKEN, body: FORM }] }
}

/** A bare server that signs once for each POST, and answers the bytes and headers of ours. */
async function startBareToken(
  url: string,
  headers: Readonly<Record<string, string>>,
): Promise<Listening> {
  const ours = await callUrl(url + TOKEN, { method: 'POST', headers, body: FORM })
  if (ours.status !== 200) throw new Error(ours.text)
  const answer = JSON.stringify({ headers: ownHeaders(ours.headers), body: ours.body })
  return await startProcess(['bench/servers/bare-token-server.ts', answer])
}

export function quoteBody(at: number): string {
  const payload = Buffer.alloc(32, 7)
  payload.writeUInt32BE(at + 1)
  return JSON.stringify({
    asset: 'BTC',
    crypto_network: 'BITCOIN',
    destination_address: encodeAddress('BITCOIN', payload),
    amount: `${1 + at}.125`,
  })
}
