import assert from 'node:assert/strict'
import { Agent, type IncomingMessage, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { after, afterEach, before, describe, test } from 'node:test'
import { openPlace, type StoreLocation } from '../support/harness.ts'
import { isLong } from '../support/long.ts'
import { type Program, runProgram, startProgram } from '../support/program.ts'
import { rawRequest } from '../support/raw-request.ts'
import { until } from '../support/until.ts'

const clients = 32
const rounds = isLong ? 20 : 3

let place: StoreLocation
let env: Readonly<Record<string, string>>
let form: string
let program: Program | undefined

before(async () => {
  // Only PostgreSQL has several workers.
  place = await openPlace('postgres')
  env = { ...place.env, LOG_LEVEL: 'warn' }
  const words = ['client', 'create', '--customer', 'acme', '--name', 'drain', '--json']
  const created = await runProgram(words, { env })
  const { client_id, client_secret } = JSON.parse(created.output)
  form = `grant_type=client_credentials&client_id=${client_id}&client_secret=${client_secret}`
})
afterEach(() => program?.kill('SIGKILL'))
after(() => place.remove())

async function serve(lameDuckMs: number, words: readonly string[] = []) {
  program = startProgram(['serve', '--port', '0', '--json', ...words], {
    env: { ...env, BURSAR_LAME_DUCK_MS: String(lameDuckMs) },
  })
  const { url } = JSON.parse(await program.firstLine)
  const headers = ['content-type', 'application/x-www-form-urlencoded']
  const answer = await rawRequest(url, '/oauth2/token', { method: 'POST', headers, body: form })
  return { program, url: String(url), token: String(JSON.parse(answer.text).access_token) }
}

type Load = {
  answered: number
  signalledAt: number
  readonly wrong: string[]
  readonly over: Promise<unknown>
}

/** Busy clients on kept connections. Each ends once no connection can be opened. */
function startLoad(url: string, token: string): Load {
  const load = { answered: 0, signalledAt: 0, wrong: [] as string[] }
  const client = async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    for (;;) {
      try {
        const { status, body } = await ask(agent, url, token)
        if (status !== 200 || body !== '{"items":[]}') load.wrong.push(`${status} ${body}`)
        load.answered += 1
      } catch (error) {
        const { code, kept } = error as NodeJS.ErrnoException & { kept?: boolean }
        const atMs = Math.round(performance.now() - load.signalledAt)
        if (code !== 'ECONNREFUSED') load.wrong.push(`${code} kept:${kept} at ${atMs} ms`)
        agent.destroy()
        return
      }
    }
  }
  const over = Promise.all(Array.from({ length: clients }, client))
  return Object.assign(load, { over })
}

const ask = (agent: Agent, url: string, token: string) =>
  new Promise<{ status: number | undefined; body: string }>((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}` }
    const read = (incoming: IncomingMessage) =>
      text(incoming).then((body) => resolve({ status: incoming.statusCode, body }), reject)
    const sent = request(`${url}/v2/transfer/fiat-accounts`, { agent, headers }, read)
    sent.on('error', (error) => reject(Object.assign(error, { kept: sent.reusedSocket }))).end()
  })

describe('SIGTERM under load', () => {
  const starts = [
    { words: [], lameDuckMs: 0 },
    { words: [], lameDuckMs: 600 },
    { words: ['--workers', '2'], lameDuckMs: 0 },
    { words: ['--workers', '2'], lameDuckMs: 600 },
  ]
  for (const { words, lameDuckMs } of starts) {
    const name = ['serve', ...words].join(' ')
    test(`cuts no request of ${name} with a lame-duck period of ${lameDuckMs} ms`, async () => {
      for (let round = 1; round <= rounds; round += 1) {
        const { program: started, url, token } = await serve(lameDuckMs, words)
        const load = startLoad(url, token)
        await until(() => load.answered >= clients * 3)
        load.signalledAt = performance.now()
        started.process.kill('SIGTERM')
        await load.over
        assert.deepEqual(load.wrong, [], `round ${round}, after ${load.answered} answers`)
        assert.equal(await started.ended, 0)
      }
    })
  }
})

describe('the lame-duck period', () => {
  test('fails /readyz at once, serves the rest and asks clients to leave', async () => {
    // Long enough for all that follows. The tests above end with the period itself.
    const { program: started, url, token } = await serve(60_000)
    const before = await rawRequest(url, '/readyz')
    assert.deepEqual([before.status, before.headers.connection], [200, 'close'])
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    const kept = await connectionOf(agent, url, token)
    assert.deepEqual(kept, [200, 'keep-alive'])
    started.process.kill('SIGTERM')
    await until(async () => (await rawRequest(url, '/readyz')).status === 503)
    const answer = await rawRequest(url, '/readyz')
    assert.equal(answer.headers['retry-after'], '1')
    assert.deepEqual(await connectionOf(agent, url, token), [200, 'close'])
    assert.equal((await rawRequest(url, '/healthz')).status, 200)
    agent.destroy()
    assert.equal(started.process.exitCode, null, 'it served all of this in its lame-duck period')
  })

  test('is left out after SIGINT, and a second signal cuts it short', async () => {
    const interrupted = await serve(60_000)
    interrupted.program.process.kill('SIGINT')
    assert.equal(await interrupted.program.ended, 0)
    const { program: started } = await serve(60_000)
    started.process.kill('SIGTERM')
    // A signal right after the first counts as the same one, so this test insists.
    await until(() => {
      started.process.kill('SIGINT')
      return started.process.exitCode !== null
    })
    assert.equal(await started.ended, 1)
  })
})

const connectionOf = (agent: Agent, url: string, token: string) =>
  new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}` }
    request(`${url}/v2/transfer/fiat-accounts`, { agent, headers }, (incoming) => {
      incoming.resume()
      incoming.once('end', () => resolve([incoming.statusCode, incoming.headers.connection]))
    })
      .on('error', reject)
      .end()
  })
