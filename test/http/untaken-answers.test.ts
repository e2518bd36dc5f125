import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { describe, type TestContext, test } from 'node:test'
import { pino } from 'pino'
import { openBackground } from '../../src/background.ts'
import { openConnectionBounds } from '../../src/http/server/connections/connection-bounds.ts'
import { until } from '../support/until.ts'
import { openVirtualTime } from '../support/virtual-time.ts'

function openSocket(url: string) {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  let received = ''
  let isClosed = false
  socket.on('error', () => {})
  socket.on('close', () => {
    isClosed = true
  })
  const read = () =>
    socket.on('data', (bytes) => {
      received += bytes.toString('latin1')
    })
  return { socket, read, received: () => received, isClosed: () => isClosed }
}

const head = (line: string, ...headers: readonly string[]): string =>
  `${[line, 'host: x', ...headers].join('\r\n')}\r\n\r\n`

function openTestLog() {
  const lines: string[] = []
  const log = pino({}, { write: (line: string) => lines.push(line) })
  return { log, lines }
}

const time = openVirtualTime()
const background = openBackground(time.now, time)

describe('the time to take an answer', () => {
  const answerTakenMs = 150

  /** A server whose answers are larger than the buffers of the operating system. */
  async function startServer(t: TestContext) {
    const { log, lines } = openTestLog()
    const bounds = openConnectionBounds(
      { perAddressMax: 10, trustedProxies: [], answerTakenMs, background, time },
      log,
    )
    const server = createServer((request, response) => {
      response.end(request.url === '/small' ? 'small' : Buffer.alloc(30_000_000))
    })
    bounds.watch(server)
    await once(server.listen(0, '127.0.0.1'), 'listening')
    t.after(() => {
      bounds.stop()
      server.closeAllConnections()
      server.close()
    })
    const held = () =>
      new Promise<number>((resolve) => server.getConnections((_, count) => resolve(count)))
    return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, lines, held }
  }

  test('closes a connection that reads nothing, or too little', async (t) => {
    const { url, lines, held } = await startServer(t)
    const silent = openSocket(url)
    silent.socket.write(head('GET / HTTP/1.1'))
    const slow = openSocket(url)
    slow.socket.write(head('GET / HTTP/1.1'))
    await until(async () => (await held()) === 2)
    await until(async () => {
      slow.socket.read(1000)
      await time.advance(answerTakenMs / 4)
      return (await held()) === 0
    })
    assert.match(String(lines[0]), /"address":"127.0.0.1".*did not take an answer in time/)
    silent.socket.destroy()
    slow.socket.destroy()
  })

  test('does not touch a connection that takes its answers, or waits between them', async (t) => {
    const { url, lines } = await startServer(t)
    const { socket, read, received, isClosed } = openSocket(url)
    read()
    for (const round of [1, 2]) {
      socket.write(head('GET /small HTTP/1.1'))
      await until(() => received().split('small').length === round + 1)
      await time.advance(answerTakenMs * 1.5)
    }
    assert.deepEqual([isClosed(), lines], [false, []])
    socket.destroy()
  })
})
