import assert from 'node:assert/strict'
import { Agent, request } from 'node:http'
import { connect } from 'node:net'
import { after, before, test } from 'node:test'
import { openPlace, type StoreLocation } from '../test/support/harness.ts'
import { type Program, runProgram, startProgram } from '../test/support/program.ts'
import { aFiatAccount } from '../test/support/records.ts'
import { note, rounded } from './figure.ts'
import { strangersRequests, strangersTokenRequests } from './support/worst-requests.ts'

/** Strangers send the worst request of each shape while a customer reads pages. */

let place: StoreLocation
let program: Program
let url: string
let token: string
const agent = new Agent({ keepAlive: true, maxSockets: 4 })

before(async () => {
  place = await openPlace('postgres')
  const env = {
    ...place.env,
    LOG_LEVEL: 'warn',
    BURSAR_TRUSTED_PROXIES: '127.0.0.1',
  }
  const words = ['client', 'create', '--customer', 'acme', '--name', 'reader', '--json']
  const client = JSON.parse((await runProgram(words, { env })).output)
  const accounts = Array.from({ length: 200 }, (_, at) =>
    JSON.stringify(aFiatAccount({ id: `5a51e000-0000-4000-8000-${String(at).padStart(12, '0')}` })),
  )
  const imported = await runProgram(['import', 'fiat-accounts', '-'], {
    env,
    stdin: accounts.join('\n'),
  })
  assert.equal(imported.code, 0, imported.errors)
  program = startProgram(['serve', '--workers', '2', '--port', '0', '--json'], { env })
  url = JSON.parse(await program.firstLine).url
  const answer = await fetch(`${url}/oauth2/token`, {
    method: 'POST',
    body: new URLSearchParams({ grant_type: 'client_credentials', ...credentialsOf(client) }),
  })
  token = ((await answer.json()) as { access_token: string }).access_token
})
after(async () => {
  agent.destroy()
  await program.kill('SIGKILL')
  await place.remove()
})

const credentialsOf = (client: { client_id: string; client_secret: string }) => ({
  client_id: client.client_id,
  client_secret: client.client_secret,
})

/** The milliseconds of one page of the customer. */
function readPage(): Promise<number> {
  const startedAt = performance.now()
  const { promise, resolve, reject } = Promise.withResolvers<number>()
  const headers = { authorization: `Bearer ${token}` }
  const sent = request(`${url}/v2/transfer/fiat-accounts`, { agent, headers }, (answer) => {
    assert.equal(answer.statusCode, 200)
    answer.resume().on('end', () => resolve(performance.now() - startedAt))
  })
  sent.on('error', reject).end()
  return promise
}

const PAGES = 300

/** The 99th percentile of pages that four connections read one after another, at least PAGES. */
async function p99(isEnough = () => true): Promise<number> {
  const times: number[] = []
  const reader = async () => {
    for (let pages = 0; pages < PAGES / 4 || !isEnough(); pages += 1) times.push(await readPage())
  }
  await Promise.all(Array.from({ length: 4 }, reader))
  return times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.99)] ?? 0
}

const shapes = [...strangersRequests, ...strangersTokenRequests(1)]
let sent = 0

/**
 * Sends 100 of the worst requests a second, each over its own connection. The returned function
 * ends that and waits for the answers, so that nothing of the attack is left for the next round.
 */
function attack(): () => Promise<void> {
  const waiting = new Set<Promise<void>>()
  const timer = setInterval(() => {
    const shape = shapes[sent % shapes.length]
    sent += 1
    if (shape === undefined) return
    const answered = untilAnswered(shape.bytes).finally(() => waiting.delete(answered))
    waiting.add(answered)
  }, 10)
  return async () => {
    clearInterval(timer)
    await Promise.all(waiting)
  }
}

/** Resolves at the first byte of the answer, or when the connection is closed. */
function untilAnswered(bytes: Uint8Array): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const socket = connect(Number(new URL(url).port), '127.0.0.1', () => socket.write(bytes))
  socket.on('error', () => {})
  socket.once('data', () => socket.destroy())
  socket.setTimeout(30_000, () => socket.destroy())
  socket.once('close', () => resolve())
  return promise
}

const medianOf = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0

test('a customer’s p99 while strangers attack', async (t) => {
  await p99()
  const [calm, attacked]: [number[], number[]] = [[], []]
  for (const round of [1, 2, 3, 4, 5]) {
    calm.push(await p99())
    const stop = attack()
    // A fast machine reads the pages before every shape was sent.
    attacked.push(await p99(() => sent >= (round * shapes.length) / 5))
    await stop()
  }
  assert.ok(sent >= shapes.length, 'every shape was sent')
  const [usual, worst] = [medianOf(calm), medianOf(attacked)]
  note(t, { name: 'p99 of a page', value: rounded(usual), unit: 'ms' })
  const ratio = rounded(worst / usual)
  note(t, {
    name: 'p99 of a page during an attack',
    value: ratio,
    unit: 'times its usual',
    goal: 3,
  })
})
