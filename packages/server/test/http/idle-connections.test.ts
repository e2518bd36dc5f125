import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { describe, type TestContext, test } from 'node:test'
import { startTestService, unreadLog } from '../../../../test/support/harness.ts'
import { until } from '../../../../test/support/until.ts'
import { openNodeServers } from '../../src/server/connections/node-server.ts'
import { openCors } from '../../src/server/cors.ts'

const request = (path: string) => `GET ${path} HTTP/1.1\r\nhost: x\r\n\r\n`

/** Two listeners of a process that holds 16 connections, 12 of them idle. */
async function startServers(t: TestContext, idleConnectionSeconds = 620) {
  const held: ServerResponse[] = []
  const log = unreadLog()
  const cors = openCors([])
  const servers = openNodeServers({
    connectionsMax: 16,
    idleConnectionSeconds,
    watch: () => {},
    cors,
    log,
  })
  const listeners = [0, 1].map(() =>
    servers.open((message, response) => {
      if (message.url === '/held') held.push(response)
      else response.end('ok')
    }),
  )
  for (const listener of listeners) await once(listener.listen(0, '127.0.0.1'), 'listening')
  const ports = listeners.map((listener) => (listener.address() as AddressInfo).port)
  t.after(() => {
    servers.closeAllConnections()
    for (const listener of listeners) listener.close()
  })
  let count = 0
  const open = async (text: string, awaited = 'ok') => {
    const socket = connect(ports[count++ % 2] ?? 0, '127.0.0.1')
    const seen = { socket, received: '', isClosed: false }
    socket.on('error', () => {})
    socket.on('close', () => {
      seen.isClosed = true
    })
    socket.on('data', (bytes) => {
      seen.received += bytes
    })
    const before = held.length
    socket.write(text)
    await until(() => (awaited === '' ? held.length > before : seen.received.includes(awaited)))
    return seen
  }
  const openMany = async (number: number, text = request('/'), awaited = 'ok') => {
    const opened: Awaited<ReturnType<typeof open>>[] = []
    for (let at = 0; at < number; at += 1) opened.push(await open(text, awaited))
    return opened
  }
  return { servers, held, open, openMany }
}

describe('idle connections', () => {
  test('are bounded over all listeners, and the oldest idle one closes first', async (t) => {
    const { servers, openMany } = await startServers(t)
    const [first, second, third, ...others] = await openMany(12)
    first?.socket.write(request('/'))
    await until(() => first?.received.split('ok').length === 3)
    assert.equal(servers.size(), 12)
    const more = await openMany(2)
    await until(() => second?.isClosed === true && third?.isClosed === true)
    await until(() => servers.size() === 12)
    assert.ok([first, ...others, ...more].every((one) => one?.isClosed === false))
  })

  test('make room for new ones, and none with a request or its first bytes closes', async (t) => {
    const { servers, held, open, openMany } = await startServers(t)
    const begun = await open(request('/'))
    begun.socket.write('GET')
    const busy = await openMany(12, request('/held'), '')
    const [oldest, newest] = await openMany(2)
    assert.equal(servers.size(), 15)
    const added = await open(request('/held'), '')
    await until(() => oldest?.isClosed === true)
    assert.deepEqual(
      [begun, ...busy, newest, added].map((one) => one?.isClosed),
      Array.from({ length: 15 }, () => false),
    )
    begun.socket.write(' / HTTP/1.1\r\nhost: x\r\n\r\n')
    await until(() => begun.received.split('ok').length === 3)
    for (const response of held) response.end('ok')
    await until(() => [...busy, added].every(({ received }) => received.includes('ok')))
  })

  test('close after the time that answers state', async (t) => {
    const { open } = await startServers(t, 1)
    const { socket, received } = await open(request('/'))
    assert.match(received, /^keep-alive: timeout=1\r$/im)
    await once(socket, 'close')
  })
})

test('both ports state the time of the setting', async () => {
  const env = { BURSAR_IDLE_CONNECTION_SECONDS: '700', BURSAR_OPERATOR_PORT: '0' }
  const service = await startTestService({ env })
  for (const url of [`${service.url}/healthz`, `${service.operatorUrl}/readyz`]) {
    assert.equal((await fetch(url)).headers.get('keep-alive'), 'timeout=700')
  }
  await service.stop()
})
