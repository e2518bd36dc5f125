import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { type TestContext, test } from 'node:test'
import type { AuditEntry } from '../../src/contract/audit-entry.ts'
import { openAnswerAudit } from '../../src/http/server/audit-answers.ts'
import { buildServer } from '../../src/http/server/build-server.ts'
import { StoreUnavailable } from '../../src/store/unavailable.ts'
import { unreadLog } from '../support/harness.ts'

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

/** A server whose one route shows records in full. */
async function serverWith(
  context: TestContext,
  write: (entry: AuditEntry) => Promise<void>,
): Promise<URL> {
  const counts = { add: () => {} }
  const server = await buildServer({
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
          trace.deed = deed
          trace.rows = 1000
          return { status: 200, headers: {}, body: Buffer.alloc(BODY_BYTES) }
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
