import assert from 'node:assert/strict'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as passing } from 'node:timers/promises'
import { freePort } from '../../support/free-port.ts'
import { runProgram } from '../../support/program.ts'
import { anIssuerQuote } from '../../support/records.ts'
import { untilHolds } from '../../support/until.ts'
import { quote } from './acts.ts'
import { type Answer, send, statusOf } from './client.ts'
import { openHistory } from './history.ts'
import { type Customer, customers, recordsOf } from './ledger.ts'
import type { mountSmallDisk } from './small-disk.ts'
import type { Fault } from './soak-faults.ts'
import { openSoakServer } from './soak-server.ts'

export type Soak = Awaited<ReturnType<typeof openSoak>>

export async function openSoak(disk: NonNullable<ReturnType<typeof mountSmallDisk>>) {
  const folder = join(disk.folder, 'store')
  mkdirSync(folder, { mode: 0o700 })
  const recordsFile = join(folder, 'bursar.db')
  const credentialsFile = join(folder, 'bursar.credentials.db')
  const env = {
    DATABASE_URL: `sqlite:${recordsFile}`,
    PORT: String(await freePort()),
    LOG_LEVEL: 'info',
    BURSAR_ACCEPT_SAMPLE_FEES: 'true',
    BURSAR_FEE_QUOTES_OPEN_MAX: '100000',
    BURSAR_OAUTH_REQUESTS_PER_SECOND_MAX: '0',
  }
  const history = openHistory(0)
  const forms = new Map<string, string>()
  for (const customer of customers) forms.set(customer, await addClient(env, customer))
  forms.set('operator', await addClient(env, undefined))
  const importGeneration = generationImporter(env, history)
  assert.ok(await importGeneration(1), 'the first import')
  const server = await openSoakServer(env, folder)
  const fetchToken = async (client: string) => {
    const body = forms.get(client) ?? ''
    return tokenOf(await send(server.url, '/oauth2/token', { method: 'POST', body }))
  }
  const tokens = new Map<Customer, string>()
  let operatorToken = ''
  const renewTokens = async () => {
    for (const customer of customers) tokens.set(customer, (await fetchToken(customer)) ?? '')
    operatorToken = (await fetchToken('operator')) ?? ''
  }
  await renewTokens()
  let isClockRight = true
  const works = async () => {
    const read = await send(server.url, '/v2/transfer/fiat-accounts?limit=1', {
      token: tokens.get('ash'),
    })
    const made = await quote(server.url, tokens.get('ash'))
    const isReady = statusOf(await send(server.url, '/readyz')) === 200
    const isNew = (await fetchToken('ash')) !== undefined
    return isReady && isNew && statusOf(read) === 200 && statusOf(made) < 300 && statusOf(made) > 0
  }
  return {
    env,
    server,
    history,
    tokens,
    recordsFile,
    credentialsFile,
    importGeneration,
    isClockRight: () => isClockRight,
    writeDeps: {
      url: server.url,
      credentialsFile,
      token: (client: 'ash' | 'operator') =>
        client === 'operator' ? operatorToken : (tokens.get(client) ?? ''),
      newToken: () => fetchToken('ash'),
      form: forms.get('ash') ?? '',
      isClockRight: () => isClockRight,
    },
    /** Runs a fault. Returns the milliseconds from its end until everything works again. */
    suffer: async (fault: Fault) => {
      if (fault.changesClock) isClockRight = false
      await fault.run()
      const endedAt = performance.now()
      await untilHolds(`all works after: ${fault.name}`, works)
      const ms = performance.now() - endedAt
      if (fault.changesClock) {
        // Requests that were sent under the wrong clock may still be answered.
        await passing(1000)
        await renewTokens()
        isClockRight = true
      }
      return ms
    },
    assertSound: async () => {
      const { code, output, errors } = await runProgram(['migrate', '--check', '--json'], { env })
      assert.equal(code, 0, `${output}${errors}`)
      const audited = await runProgram(['audit', 'verify', '--json'], { env })
      assert.equal(audited.code, 0, `${audited.output}${audited.errors}`)
    },
  }
}

const tokenOf = (answer: Answer): string | undefined =>
  answer.kind === 'answered' && answer.status === 200
    ? JSON.parse(answer.text).access_token
    : undefined

/** Returns the body of a token request. Without a customer, the client is the operator's. */
async function addClient(env: Readonly<Record<string, string>>, customer: string | undefined) {
  const whose =
    customer === undefined
      ? ['--operator', '--scope', 'ingest:consume_fee']
      : ['--customer', customer, '--scope', SCOPES]
  const words = ['client', 'create', ...whose, '--name', 'soak', '--json']
  const { code, output, errors } = await runProgram(words, { env })
  assert.equal(code, 0, errors)
  const made = JSON.parse(output)
  return `grant_type=client_credentials&client_id=${made.client_id}&client_secret=${made.client_secret}`
}

const SCOPES = 'transfer:read_fiat_account fee:write_crypto_withdrawal_fee'

/** Imports a generation. An import that fails may be tried again with the same generation. */
const generationImporter =
  (env: Readonly<Record<string, string>>, history: ReturnType<typeof openHistory>) =>
  async (generation: number): Promise<boolean> => {
    for (const customer of customers) history.begin(customer, generation)
    const records = customers.flatMap((customer) => recordsOf(customer, generation))
    const stdin = records.map((record) => JSON.stringify(record)).join('\n')
    const { code } = await runProgram(['import', 'fiat-accounts', '-', '--json'], { env, stdin })
    if (code !== 0) return false
    for (const customer of customers) history.acknowledge(customer, generation)
    return true
  }

/** The records change each time, so that every row is written. */
export async function importMany(env: Readonly<Record<string, string>>): Promise<void> {
  const ref = String(Math.random())
  const lines = Array.from({ length: 20_000 }, (_, at) => {
    const id = `5a51e000-0000-4000-8000-${String(at).padStart(12, '0')}`
    return JSON.stringify(anIssuerQuote({ id, customer_id: 'dogwood', ref_id: `${ref}-${at}` }))
  })
  const stdin = lines.join('\n')
  const words = ['import', 'issuer-quote-executions', '-', '--json']
  const { code, errors } = await runProgram(words, { env, stdin })
  assert.equal(code, 0, errors)
}
