import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { type TestContext, test } from 'node:test'
import { pino } from 'pino'
import { buildServer } from '../../src/http/server/build-server.ts'
import type { Logger } from '../../src/platform/log.ts'

/** The line `access`, which says what a person or a client of the operator saw in full. */

/** More than the operating system takes for a reader that stops. */
const BODY_BYTES = 64 * 1024 * 1024

const access = {
  client: 'auditor',
  access: 'full view',
  kind: 'fiat-accounts',
  view: 'full',
} as const

/** A server whose one route shows records in full. */
async function serverWith(context: TestContext, log: Logger): Promise<URL> {
  const server = await buildServer({
    log,
    corsOrigins: [],
    trustedProxies: [],
    routes: [
      {
        method: 'GET',
        path: '/full',
        operation: 'full',
        answer: ({ trace }) => {
          trace.access = access
          trace.rows = 1000
          return { status: 200, headers: {}, body: Buffer.alloc(BODY_BYTES) }
        },
      },
    ],
  })
  context.after(server.close)
  return new URL(await server.listen('127.0.0.1', 0))
}

function logOf(level: string) {
  const lines: Record<string, unknown>[] = []
  const log = pino({ level, base: null }, { write: (line) => void lines.push(JSON.parse(line)) })
  return { log, accesses: () => lines.filter(({ msg }) => msg === 'access') }
}

test('the line is written before the first byte, so a reader that leaves has one', async (t) => {
  const { log, accesses } = logOf('info')
  const { hostname, port } = await serverWith(t, log)
  const socket = connect(Number(port), hostname)
  socket.write('GET /full HTTP/1.1\r\nhost: x\r\n\r\n')
  await once(socket, 'data')
  socket.resetAndDestroy()
  const [line, ...others] = accesses()
  const { time: _time, requestId: _id, ...shown } = line ?? {}
  assert.deepEqual(shown, { level: 30, ...access, rows: 1000, msg: 'access' })
  assert.deepEqual(others, [])
})

test('no level switches the line off', async (t) => {
  for (const level of ['warn', 'fatal', 'silent']) {
    const { log, accesses } = logOf(level)
    const url = await serverWith(t, log)
    await (await fetch(new URL('/full', url))).bytes()
    assert.equal(accesses().length, 1, level)
  }
})

test('nothing is shown where the log drops the line', async (t) => {
  let dropped = 0
  const full = {
    write: () => {
      dropped += 1
    },
    state: () => ({ dropped, waitingBytes: 1 }),
  }
  const url = await serverWith(t, pino({ base: null }, full))
  const answer = await fetch(new URL('/full', url))
  assert.equal(answer.status, 503)
  assert.equal(answer.headers.get('retry-after'), '1')
  const { detail } = (await answer.json()) as { detail: string }
  assert.match(detail, /^the access cannot be logged/)
})
