import '../../packages/cli/src/processes/stream-writer.ts'
import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { setTimeout as passing } from 'node:timers/promises'
import { limitNamed, openMovableClock, systemTime } from '@bursar/base'
import { openWriters } from '@bursar/intake'
import { pino } from 'pino'
import { withPrimary } from '../../packages/postgres/src/cluster/with-primary.ts'
import { openSpools } from '../../packages/records/src/spool.ts'
import { describeService } from '../support/describe-service.ts'
import { configOf } from '../support/harness.ts'
import { isLong } from '../support/long.ts'
import { operatorToken } from '../support/operator-token.ts'
import { aFiatAccount, anId } from '../support/records.ts'
import { addressesOf } from '../support/test-database.ts'
import { openPassingKeys } from '../support/test-sealing.ts'
import { systemMs, until, untilHolds } from '../support/until.ts'
import { takeTime } from '../support/virtual-time.ts'
import { isRunning, priorityOf, writersOf } from '../support/writer-processes.ts'

const folder = mkdtempSync(join(tmpdir(), 'bursar-streams-'))
after(() => rmSync(folder, { recursive: true, force: true }))

const clock = openMovableClock()
let token: string
const service = describeService(
  { env: { BURSAR_SPOOL_FOLDER: join(folder, 'spool') }, control: clock },
  async () => {
    const scopes = [
      'ingest:write_fiat_accounts',
      'ingest:read_record',
      'ingest:read_history',
      'ingest:read_imports',
      'ingest:cancel_import',
    ]
    token = await operatorToken(service, 'core', scopes)
  },
)

const linesOf = (first: number, count: number, tag: string) =>
  Array.from({ length: count }, (_, at) =>
    JSON.stringify(
      aFiatAccount({
        id: anId(first + at),
        customer_id: 'streamed',
        ref_id: `${tag} ${first + at}`,
      }),
    ),
  ).join('\n')

const post = (body: string, signal?: AbortSignal) =>
  fetch(`${service.url}/ingest/v1/fiat-accounts`, {
    method: 'POST',
    body,
    headers: { authorization: `Bearer ${token}` },
    ...(signal && { signal }),
  })

/** The tag of the stream that has stored a record. */
const tagOf = async (id: number): Promise<unknown> =>
  (await service.call(`/ingest/v1/fiat-accounts/${anId(id)}`, { token })).body.ref_id?.split(' ')[0]

const spooled = () => readdirSync(join(folder, 'spool'))

/** A writer that waits for its next stream, and then does nothing with it. */
async function stoppedWriter(): Promise<number> {
  assert.equal((await post(linesOf(1, 1, 'first'))).status, 200)
  const [pid = 0] = writersOf()
  process.kill(pid, 'SIGSTOP')
  return pid
}

/** The embedded store has no session that a killed process could leave. */
const isPostgres = () => service.parts.config.operatorDatabaseUrl !== undefined

/** Holds the lock that a merge of the customer takes. Tells how many sessions wait for it. */
async function whileLocked(work: (waiting: () => Promise<number>) => Promise<void>): Promise<void> {
  const { operatorDatabaseUrl = '' } = service.parts.config
  await withPrimary(addressesOf(operatorDatabaseUrl), async (merging) => {
    await merging.execute("begin; select 1 from bursar.customer where id = 'streamed' for update")
    const text = 'select count(*) as count from pg_locks where not granted'
    await work(async () => Number((await merging.rows({ text }))[0]?.count))
    await merging.execute('rollback')
  })
}

/** The id of the newest import, once it is as a test needs it. */
async function untilImport(
  name: string,
  holds: (found: Readonly<Record<string, unknown>>) => boolean,
): Promise<string> {
  let id = ''
  const isSo = async () => {
    const { body } = await service.call('/ingest/v1/imports?limit=1', { token })
    const [found = {}] = body.imports
    id = found.id
    return holds(found)
  }
  await untilHolds(name, isSo)
  return id
}

const runningImport = () =>
  untilImport('the process has the stream', ({ state }) => state === 'running')

describe('the process that stores streams', () => {
  test('starts with the first stream, yields to requests, and is kept for the next', async () => {
    assert.deepEqual(writersOf(), [])
    assert.equal((await post(linesOf(1, 1, 'first'))).status, 200)
    const [pid = 0, ...others] = writersOf()
    assert.deepEqual([priorityOf(pid), others], [limitNamed('writerPriority'), []])
    assert.equal((await post(linesOf(1, 1, 'second'))).status, 200)
    assert.deepEqual([writersOf(), spooled()], [[pid], []])
  })

  test('follows the clock of the service', async () => {
    clock.setOffset(600_000_000n)
    try {
      assert.equal((await post(linesOf(10, 1, 'later'))).status, 200)
      const path = `/ingest/v1/fiat-accounts/${anId(10)}/history`
      const { body } = await service.call(path, { token })
      const ahead = Date.parse(body.versions[0].stored_at) - systemMs()
      assert.ok(Math.abs(ahead - 600_000) < 60_000, `${ahead} ms ahead`)
    } finally {
      clock.setOffset(0n)
    }
  })

  test('leaves nothing if it is killed, and the client may send the stream again', async () => {
    const pid = await stoppedWriter()
    const pending = post(linesOf(20, 5, 'killed'))
    await runningImport()
    const [name = ''] = spooled()
    assert.equal(statSync(join(folder, 'spool', name)).mode & 0o777, 0o600)
    process.kill(pid, 'SIGKILL')
    const { status, headers } = await pending
    assert.deepEqual([status, headers.get('retry-after')], [503, '1'])
    assert.deepEqual([await tagOf(20), spooled(), isRunning(pid)], [undefined, [], false])
    assert.equal((await post(linesOf(20, 5, 'again'))).status, 200)
    assert.equal(await tagOf(24), 'again')
  })

  test('is killed when its client leaves, and nothing is stored', async () => {
    const pid = await stoppedWriter()
    const left = new AbortController()
    const pending = post(linesOf(30, 5, 'left'), left.signal)
    await runningImport()
    left.abort()
    await assert.rejects(pending, { name: 'AbortError' })
    await untilHolds('the process has ended', () => !isRunning(pid))
    await untilHolds('its file is removed', () => spooled().length === 0)
    assert.equal(await tagOf(30), undefined)
  })

  test('is killed if its stream is cancelled, and nothing is stored', async () => {
    const pid = await stoppedWriter()
    const pending = post(linesOf(40, 2, 'cancelled'))
    const path = `/ingest/v1/imports/${await runningImport()}`
    assert.equal((await service.call(path, { token, method: 'DELETE' })).status, 202)
    assert.equal((await pending).status, 409)
    assert.deepEqual([await tagOf(40), spooled(), isRunning(pid)], [undefined, [], false])
  })

  test('that is killed while it waits for a lock leaves no session', async () => {
    assert.equal((await post(linesOf(50, 1, 'first'))).status, 200)
    if (!isPostgres()) return
    await whileLocked(async (waitingSessions) => {
      const pending = post(linesOf(50, 2, 'killed'))
      await untilHolds('it waits', async () => (await waitingSessions()) > 0)
      for (const pid of writersOf()) process.kill(pid, 'SIGKILL')
      assert.equal((await pending).status, 503)
      const isLeft = async () => (await waitingSessions()) === 0
      await untilHolds('no session waits', isLeft, 2 * limitNamed('databaseClientCheckMs'))
    })
    assert.equal((await post(linesOf(50, 2, 'again'))).status, 200)
    assert.equal(await tagOf(51), 'again')
  })

  test('that is killed at any moment has stored all of a stream or nothing', async () => {
    const moments = isLong ? 100 : 8
    const count = 1500
    let known: unknown
    let [stored, refused] = [0, 0]
    for (let moment = 0; moment < moments; moment += 1) {
      const tag = `moment-${moment}`
      const pending = post(linesOf(1000, count, tag))
      // A start takes about half a second, and an import less.
      await passing(randomInt(0, 1200))
      for (const pid of writersOf()) process.kill(pid, 'SIGKILL')
      const { status } = await pending
      const found = [await tagOf(1000), await tagOf(1000 + count / 2), await tagOf(999 + count)]
      const [row] = (await service.call('/ingest/v1/imports?limit=1', { token })).body.imports
      if (status === 200) known = tag
      else assert.equal(status, 503)
      if (status === 200) stored += 1
      else refused += 1
      assert.equal(row.state, status === 200 ? 'stored' : 'refused')
      assert.deepEqual(found, [known, known, known], `${tag} with ${status}`)
      assert.deepEqual(spooled(), [])
    }
    assert.equal(stored + refused, moments)
  })
})

/** Writers outside of a service. */
function openTested(memoryMegabytes?: number) {
  const logged: string[] = []
  const writers = openWriters({
    config: configOf({ DATABASE_URL: `sqlite:${join(folder, 'none.db')}` }),
    log: pino({ base: null, timestamp: false }, { write: (line) => void logged.push(line) }),
    clock: systemTime.now,
    spools: openSpools({ folder, bytesMax: 1e6 }),
    keys: openPassingKeys(),
    ...(memoryMegabytes !== undefined && { memoryMegabytes }),
  })
  return { writers, logged }
}

const job = {
  kind: 'fiat-accounts',
  path: join(folder, 'none'),
  key: new Uint8Array(32),
  isGzip: false,
  sha256: '',
  clientId: 'core',
  customerId: undefined,
  allowOlder: false,
  takeOver: false,
  row: { id: 'none', answerKey: new Uint8Array(32) },
  keepsAnswer: false,
}
const { signal } = new AbortController()

describe('a process that stores no stream', () => {
  test('for lack of memory ends alone', async () => {
    const { writers, logged } = openTested(1)
    const message = /^the writer of the stream has ended \(SIG[A-Z]+\)$/
    await assert.rejects(writers.run(job, signal), { name: 'StoreUnavailable', message })
    await writers.close()
    const [line = '{}', ...others] = logged
    const { msg, printed } = JSON.parse(line)
    assert.deepEqual([msg, others], ['a writer of streams has ended', []])
    assert.match(printed, /out of memory/)
  })

  test('for want of progress is killed', async () => {
    using time = takeTime()
    const { writers, logged } = openTested()
    const pending = writers.run(job, signal)
    pending.catch(() => {})
    const [pid = 0] = writersOf().slice(-1)
    process.kill(pid, 'SIGSTOP')
    await time.advance(limitNamed('writerSilenceMs'))
    const message = 'the writer of the stream has made no progress'
    await assert.rejects(pending, { name: 'StoreUnavailable', message })
    await until(() => !isRunning(pid))
    await writers.close()
    assert.deepEqual(logged, [])
  })

  test('because the store is missing says so', async () => {
    const { writers } = openTested()
    await assert.rejects(writers.run(job, signal), {
      name: 'StoreUnavailable',
      message: /none.db/,
    })
    await writers.close()
  })
})
