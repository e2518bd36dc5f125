import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { type TestContext, test } from 'node:test'
import { type Answer, type AuditEntry, problem } from '@bursar/contract'
import { DeedFailed, doing, NothingChanged, StoreUnavailable } from '@bursar/records'
import { unreadLog } from '../../../../test/support/harness.ts'
import { openAnswerAudit } from '../../src/server/audit-answers.ts'
import { buildServer } from '../../src/server/build-server.ts'

/** The entry that the audit log has of an answer before its first byte is sent. */

/** More than the operating system takes for a reader that stops. */
const BODY_BYTES = 64 * 1024 * 1024

const deed = { action: 'view_in_full', kind: 'fiat-accounts', view: 'full' } as const
const entry: AuditEntry = {
  ...deed,
  actor: { type: 'client', id: 'auditor' },
  operation: 'full',
  rows: 1000,
  outcome: 'done',
}

const showInFull = async () => ({ status: 200, headers: {}, body: Buffer.alloc(BODY_BYTES), deed })

/** A server with one route, which shows records in full unless it does something else. */
async function serverWith(
  context: TestContext,
  write: (entry: AuditEntry) => Promise<void>,
  answer: () => Promise<Answer> = showInFull,
): Promise<URL> {
  const counts = { add: () => {} }
  const server = await buildServer({
    idleConnectionSeconds: 620,
    log: unreadLog(),
    corsOrigins: [],
    trustedProxies: [],
    audit: openAnswerAudit({
      audit: { write },
      counts,
      reads: new Set(),
      listsReads: false,
    }),
    routes: [
      {
        method: 'GET',
        path: '/full',
        operation: 'full',
        answer: ({ trace }) => {
          trace.client = 'auditor'
          trace.rows = 1000
          return answer()
        },
      },
    ],
  })
  context.after(server.close)
  return new URL(await server.listen('127.0.0.1', 0))
}

test('the entry is written before the first byte, so a reader that leaves has one', async (t) => {
  const written = Promise.withResolvers<void>()
  const entries: AuditEntry[] = []
  const { hostname, port } = await serverWith(t, (one) => {
    entries.push(one)
    return written.promise
  })
  const socket = connect(Number(port), hostname)
  let bytes = 0
  socket.on('data', ({ length }) => {
    bytes += length
  })
  socket.write('GET /full HTTP/1.1\r\nhost: x\r\n\r\n')
  while (entries.length === 0) await new Promise(setImmediate)
  await new Promise(setImmediate)
  assert.equal(bytes, 0)
  written.resolve()
  await once(socket, 'data')
  socket.resetAndDestroy()
  assert.deepEqual(entries, [entry])
})

test('nothing is shown where the entry cannot be written', async (t) => {
  const url = await serverWith(t, () => Promise.reject(new StoreUnavailable('the disk is full')))
  const answer = await fetch(new URL('/full', url))
  assert.equal(answer.status, 503)
  assert.equal(answer.headers.get('retry-after'), '1')
  const { detail } = (await answer.json()) as { detail: string }
  assert.equal(detail, 'the store is not available, try again shortly')
})

const failures = [
  { what: 'a refusal', failure: problem('conflict', 'there is a newer one'), status: 409 },
  {
    what: 'a store that has changed nothing',
    failure: new NothingChanged('locked'),
    status: 503,
  },
  {
    what: 'a problem that such a store has caused',
    failure: problem('unavailable', 'try again', { cause: new NothingChanged('locked') }),
    status: 503,
  },
  {
    what: 'a store that has not answered',
    failure: new StoreUnavailable('the commit timed out'),
    status: 503,
    outcome: 'unknown',
  },
  { what: 'a defect', failure: new TypeError('no such member'), status: 500, outcome: 'unknown' },
] as const

for (const { what, failure, status, ...entryOf } of failures) {
  test(`a deed that ends with ${what} is answered with ${status}, and has the entry that it needs`, async (t) => {
    const entries: AuditEntry[] = []
    const put = { action: 'put', kind: 'fiat-accounts', ids: ['1'] } as const
    const url = await serverWith(
      t,
      async (one) => void entries.push(one),
      () => doing(put, () => Promise.reject(failure)),
    )
    const answer = await fetch(new URL('/full', url))
    assert.equal(answer.status, status)
    assert.equal(answer.headers.get('content-type'), 'application/problem+json')
    const { actor, operation, rows } = entry
    const expected = 'outcome' in entryOf ? [{ ...put, actor, operation, rows, ...entryOf }] : []
    assert.deepEqual(entries, expected)
  })
}

test('a span describes a deed that has failed as its cause', () => {
  const refused = problem('conflict', 'there is a newer one')
  const failed = new DeedFailed(deed, refused)
  assert.deepEqual([failed.name, Reflect.get(failed, 'status')], [refused.name, 409])
})
