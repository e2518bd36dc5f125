import assert from 'node:assert/strict'
import type { Socket } from 'node:net'
import { describe, test } from 'node:test'
import { settlesAfter } from '../../../test/support/settles-after.ts'
import { until } from '../../../test/support/until.ts'
import { takeTime } from '../../../test/support/virtual-time.ts'
import { listenAs } from '../../records/test/support/listen-as.ts'
import { withPrimary } from '../src/cluster/with-primary.ts'
import { openConnection } from '../src/driver/connection.ts'
import { sessionSocket } from '../src/driver/session-socket.ts'

const answering = (answer: string) => (socket: Socket) => {
  socket.once('data', () => socket.write(Buffer.from(answer, 'latin1')))
}

describe('a session with TLS', () => {
  for (const [what, answer, message] of [
    ['offers no TLS', 'N', 'the server offers no TLS'],
    ['does not know the request', 'E\0\0\0\x05\0', 'the server does not say whether it offers TLS'],
    ['sends bytes that are not encrypted', 'SR\0\0\0\x08', 'the server does not say whether it'],
    ['agrees but does not speak TLS', 'S', 'TLS cannot be agreed on (ERR_SSL'],
  ] as const) {
    test(`fails with a server that ${what}`, async (context) => {
      const { address } = await listenAs(context, 'require', (socket) => {
        socket.on('data', (asked) => {
          socket.write(Buffer.from(asked.length === 8 ? answer : 'this is not TLS'))
        })
      })
      await assert.rejects(sessionSocket(address, 5000).open(), (error: Error) => {
        assert.equal((error as { code?: unknown }).code, 'ETLS')
        return error.message.startsWith(message)
      })
    })
  }

  for (const [what, serve] of [
    ['says nothing', () => {}],
    ['agrees and then says nothing', answering('S')],
  ] as const) {
    test(`times out if a server ${what}`, async (context) => {
      const { address, sockets } = await listenAs(context, 'require', serve)
      using time = takeTime()
      const opening = sessionSocket(address, 200).open()
      opening.catch(() => {})
      await until(() => sockets.length > 0)
      await assert.rejects(settlesAfter(time, 200, opening), { code: 'ETIMEDOUT' })
    })

    test(`can be destroyed while a server ${what}`, async (context) => {
      const { address, sockets } = await listenAs(context, 'require', serve)
      const session = sessionSocket(address, 60_000)
      const refused = assert.rejects(session.open(), { code: 'ECONNRESET' })
      await until(() => sockets.length > 0)
      session.destroy()
      await refused
    })
  }
})

test('a server that hangs up is tried once and named in the error', async (context) => {
  const { address, sockets } = await listenAs(context, false, (socket) => socket.end())
  await assert.rejects(
    withPrimary([address], async () => {}),
    { name: 'StoreUnavailable', message: /no primary/ },
  )
  assert.equal(sockets.length, 1)
})

test('a statement after a copy whose connection was reset rejects', {
  timeout: 10_000,
}, async (context) => {
  const toStartup = 'R\0\0\0\x08\0\0\0\0Z\0\0\0\x05I'
  const toBegin = 'C\0\0\0\x0aBEGIN\0Z\0\0\0\x05T'
  const toCopy = 'G\0\0\0\x07\0\0\0'
  const { address } = await listenAs(context, false, (socket) => {
    const answers = [toStartup, toBegin, toCopy]
    socket.on('data', () => {
      const answer = answers.shift()
      if (answer === undefined) socket.resetAndDestroy()
      else socket.write(Buffer.from(answer, 'latin1'))
    })
  })
  const options = { parameters: {}, connectTimeoutMs: 60_000 }
  const connection = openConnection(address, options)
  context.after(connection.destroy)
  await connection.execute('begin')
  const stream = await connection.copyIn('copy staged from stdin')
  const rolledBack = Promise.withResolvers<void>()
  // The connection reports the reset before it is closed.
  stream.once('error', () =>
    connection.execute('rollback').then(rolledBack.resolve, rolledBack.reject),
  )
  stream.write('a line\n')
  await assert.rejects(rolledBack.promise, { code: /^(CONNECTION_DESTROYED|ECONNRESET)$/ })
  assert.equal(connection.isBroken(), true)
})
