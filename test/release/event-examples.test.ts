import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { text } from 'node:stream/consumers'
import { after, describe, test } from 'node:test'
import { type RecordKind, recordKinds } from '@bursar/contract'
import type { SampleCustomer } from '../../packages/sandbox/src/sample-records.ts'
import { createBursar, type Event } from '../../sdk/src/index.ts'
import { temporaryFolder } from '../support/harness.ts'
import { anId, samples } from '../support/records.ts'
import { describeSandbox, ndjson } from '../support/sandbox-control.ts'
import { untilHolds } from '../support/until.ts'

/** The programs of examples/events, which docs/integrating.md describes, are run and killed. */

const sandbox = describeSandbox()
const folder = temporaryFolder()
const client = new URL('../../sdk/src/index.ts', import.meta.url).pathname
const running = new Set<ChildProcess>()
after(() => {
  for (const child of running) child.kill('SIGKILL')
})

/** Starts a program, which imports the sources of the client, because no package is built here. */
function start(name: string, customer: SampleCustomer, env: Readonly<Record<string, string>>) {
  const source = readFileSync(`examples/events/${name}`, 'utf8')
  const file = join(folder, name)
  writeFileSync(file, source.replace("'bursar-client'", `'${client}'`))
  const child = spawn(process.execPath, [file], {
    stdio: ['ignore', 'inherit', 'inherit'],
    env: {
      PATH: process.env.PATH ?? '',
      BURSAR_URL: sandbox.url,
      CLIENT_ID: customer.clientId,
      CLIENT_SECRET: customer.clientSecret,
      CUSTOMER_ID: customer.customerId,
      ...env,
    },
  })
  running.add(child)
  return {
    isRunning: () => child.exitCode === null,
    kill: async () => {
      const ended = once(child, 'exit')
      child.kill('SIGKILL')
      await ended
      running.delete(child)
    },
  }
}

const put = async (
  { customerId }: SampleCustomer,
  kind: RecordKind,
  records: readonly object[],
) => {
  const own = records.map((record) => ({ ...samples[kind](), customer_id: customerId, ...record }))
  const answered = await sandbox.control('PUT', `/sandbox/records/${kind}`, ndjson(...own))
  assert.equal(answered.status, 200, answered.text)
}

const clientFor = ({ clientId, clientSecret }: SampleCustomer) =>
  createBursar({ baseUrl: sandbox.url, clientId, clientSecret })

/** What the lists of a customer show now, by kind and id. */
async function listed(customer: SampleCustomer): Promise<ReadonlyMap<string, unknown>> {
  const bursar = clientFor(customer)
  const { customerId: customer_id } = customer
  const lists = {
    'fiat-accounts': bursar.fiatAccounts.list(),
    'fiat-deposit-instructions': bursar.fiatDepositInstructions.list(),
    'deposit-addresses': bursar.depositAddresses.list(),
    statements: bursar.statements.list({ customer_id }),
    'issuer-quote-executions': bursar.issuerQuotes.list(),
  }
  const records = new Map<string, unknown>()
  for (const [kind, list] of Object.entries(lists)) {
    for await (const record of list) records.set(`${kind} ${record.id}`, record)
  }
  return records
}

function mirrored(file: string): ReadonlyMap<string, unknown> {
  if (!existsSync(file)) return new Map()
  const db = new DatabaseSync(file, { readOnly: true, timeout: 10_000 })
  try {
    const isMade = db.prepare("select 1 from sqlite_schema where name = 'place'").get()
    if (isMade === undefined) return new Map()
    const rows = db.prepare('select kind, id, body from records').all()
    return new Map(rows.map(({ kind, id, body }) => [`${kind} ${id}`, JSON.parse(String(body))]))
  } finally {
    db.close()
  }
}

test('the guide shows what the programs do', () => {
  const guide = readFileSync('docs/integrating.md', 'utf8')
  const [section = ''] = guide.split('\n## Events\n')[1]?.split('\n## ') ?? []
  const shown = [...section.matchAll(/```js\n(.*?)```/gs)].map(([, code = '']) => code.trim())
  assert.equal(shown.length, 2)
  for (const [at, name] of ['mirror.mjs', 'relay.mjs'].entries()) {
    const source = readFileSync(`examples/events/${name}`, 'utf8')
    assert.ok(source.includes(shown[at] ?? '…'), name)
  }
})

describe('the mirror', { timeout: 60_000 }, () => {
  const becomesEqual = async (customer: SampleCustomer, file: string) => {
    const expected = await listed(customer)
    const isEqual = () => {
      const found = mirrored(file)
      if (found.size !== expected.size) return false
      return [...expected].every(
        ([key, record]) => JSON.stringify(found.get(key)) === JSON.stringify(record),
      )
    }
    await untilHolds('the mirror equals the lists', isEqual)
    assert.deepEqual(mirrored(file), expected)
  }

  test('equals the lists after changes of every kind, also when it is killed meanwhile', async () => {
    const customer = await sandbox.customer({ records: 'sample' })
    const file = join(folder, 'killed.db')
    const env = { MIRROR_FILE: file }
    let mirror = start('mirror.mjs', customer, env)
    await becomesEqual(customer, file)
    const before = (await listed(customer)).size
    for (const [round, kind] of recordKinds.entries()) {
      const ids = Array.from({ length: 40 }, (_, at) => anId(1000 * (round + 1) + at))
      const unique = (id: string) => ({
        ...(kind === 'deposit-addresses' && { address: `0x${id.replaceAll('-', '')}00000000` }),
        ...(kind === 'fiat-deposit-instructions' && {
          memo_id: `M${id.slice(-12)}`.padEnd(16, '0'),
        }),
      })
      await put(
        customer,
        kind,
        ids.map((id) => ({ id, ...unique(id) })),
      )
      const known = mirrored(file).size
      await untilHolds('it has begun', () => mirrored(file).size > known)
      await mirror.kill()
      await put(
        customer,
        kind,
        ids.slice(0, 9).map((id) => ({ id, ...unique(id), ref_id: `r-${id}` })),
      )
      mirror = start('mirror.mjs', customer, env)
      for (const id of ids.slice(-3)) {
        const gone = await sandbox.control('DELETE', `/sandbox/records/${kind}/${id}`)
        assert.ok(gone.status < 300, gone.text)
      }
    }
    await becomesEqual(customer, file)
    assert.equal((await listed(customer)).size, before + 37 * recordKinds.length)
    assert.ok(mirror.isRunning())
    await mirror.kill()
  })

  test('reads the lists again when events after its cursor are gone', async () => {
    const customer = await sandbox.customer()
    const file = join(folder, 'restored.db')
    await put(customer, 'statements', [{ id: anId(8001) }, { id: anId(8002) }])
    const { body: snapshot } = await sandbox.control('POST', '/sandbox/snapshots')
    const mirror = start('mirror.mjs', customer, { MIRROR_FILE: file })
    await put(customer, 'statements', [{ id: anId(8003) }])
    await becomesEqual(customer, file)
    const restored = await sandbox.control('POST', `/sandbox/snapshots/${snapshot.id}/restore`)
    assert.ok(restored.status < 300, restored.text)
    await put(customer, 'issuer-quote-executions', [{ id: anId(8004) }])
    await becomesEqual(customer, file)
    assert.ok(mirror.isRunning())
    await mirror.kill()
  })
})

describe('the relay', { timeout: 60_000 }, () => {
  test('delivers each event at least once, in order and signed, also when it is killed', async () => {
    const customer = await sandbox.customer()
    const key = Buffer.from('a key of the relay and of its receiver')
    const received: Event[] = []
    let requests = 0
    const faults: string[] = []
    const receiver = createServer(async (request, response) => {
      const body = await text(request)
      requests += 1
      const { 'webhook-id': id, 'webhook-timestamp': time } = request.headers
      const signed = createHmac('sha256', key).update(`${id}.${time}.${body}`).digest('base64')
      if (request.headers['webhook-signature'] !== `v1,${signed}`) faults.push('signature')
      // Now and then it is down, and now and then its answer is lost.
      if (requests % 11 === 0) return response.writeHead(503).end()
      received.push(JSON.parse(body))
      if (requests % 13 === 0) return response.destroy()
      return response.writeHead(204).end()
    })
    receiver.listen(0, '127.0.0.1')
    await once(receiver, 'listening')
    const address = receiver.address()
    assert.ok(typeof address === 'object' && address !== null)
    const env = {
      RECEIVER_URL: `http://127.0.0.1:${address.port}/hook`,
      SIGNING_KEY: `whsec_${key.toString('base64')}`,
      CURSOR_FILE: join(folder, 'relay.cursor'),
    }
    try {
      let relay = start('relay.mjs', customer, env)
      const ids = Array.from({ length: 24 }, (_, at) => anId(9000 + at))
      for (const at of [0, 8, 16]) {
        await put(
          customer,
          'statements',
          ids.slice(at, at + 8).map((id) => ({ id })),
        )
        const before = received.length
        await untilHolds('some events are delivered', () => received.length > before + 2)
        await relay.kill()
        relay = start('relay.mjs', customer, env)
      }
      const events = await clientFor(customer).events.list().toArray({ max: 100 })
      const lastOf = (of: readonly Event[]) => of.at(-1)?.id
      const isDone = () => lastOf(received) === lastOf(events)
      await untilHolds('the last event is delivered', isDone)
      await relay.kill()
      const firsts = new Map(received.map((event) => [event.id, event]))
      assert.deepEqual([...firsts.values()], events)
      assert.equal(events.length, 24)
      assert.deepEqual(faults, [])
    } finally {
      receiver.closeAllConnections()
      receiver.close()
    }
  })
})
