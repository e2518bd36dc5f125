import assert from 'node:assert/strict'
import { connect, type Socket } from 'node:net'
import { describe, type TestContext, test } from 'node:test'
import { limitNamed } from '@bursar/base'
import type { Answer, Route } from '@bursar/contract'
import { pino } from 'pino'
import { rawRequest } from '../../../../test/support/raw-request.ts'
import { stoppedJobs } from '../../../../test/support/stopped-jobs.ts'
import { until } from '../../../../test/support/until.ts'
import { takeTime } from '../../../../test/support/virtual-time.ts'
import { buildServer } from '../../src/server/build-server.ts'

/** The deadlines of connections that a server itself counts. */

const ended: Answer = { status: 204, headers: {}, body: undefined }

/** A server with a request that is answered at once, one that is held, and one with a body. */
async function startServer(t: TestContext) {
  const held: PromiseWithResolvers<Answer>[] = []
  const lines: string[] = []
  const hold = async () => {
    const answer = Promise.withResolvers<Answer>()
    held.push(answer)
    return answer.promise
  }
  const routes: Route[] = [
    { method: 'GET', path: '/at-once', operation: 'atOnce', answer: async () => ended },
    { method: 'GET', path: '/held', operation: 'held', answer: hold },
    { method: 'POST', path: '/body', operation: 'body', answer: async () => ended },
  ]
  const server = await buildServer({
    idleConnectionSeconds: 620,
    log: pino({}, { write: (line: string) => void lines.push(line) }),
    corsOrigins: ['https://app.example'],
    trustedProxies: [],
    routes,
    background: stoppedJobs(),
  })
  const url = await server.listen('127.0.0.1', 0)
  let isClosed = false
  const close = async () => {
    if (!isClosed) await server.close()
    isClosed = true
  }
  const opened: Socket[] = []
  const open = (text: string) => {
    const connection = openConnection(url, text)
    opened.push(connection.socket)
    return connection
  }
  t.after(async () => {
    for (const socket of opened) socket.destroy()
    for (const { resolve } of held) resolve(ended)
    await close()
  })
  return { server, url, held, lines, close, open }
}

/** A connection that sends a text and keeps its side open. */
function openConnection(url: string, text: string) {
  const { hostname, port } = new URL(url)
  const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true })
  const seen = { received: '', hasEnded: false, isClosed: false }
  socket.on('data', (bytes) => {
    seen.received += bytes.toString('latin1')
  })
  socket.on('end', () => {
    seen.hasEnded = true
  })
  socket.on('error', () => {})
  socket.on('close', () => {
    seen.isClosed = true
  })
  socket.write(text)
  return { socket, seen }
}

const get = (path: string) => `GET ${path} HTTP/1.1\r\nhost: x\r\n\r\n`

describe('a body that does not arrive', () => {
  const head =
    'POST /body HTTP/1.1\r\nhost: x\r\norigin: https://app.example\r\ncontent-type: text/plain\r\ncontent-length: 4\r\n\r\n'

  test('is answered 408 after its time, and its connection is closed', async (t) => {
    const { open, url } = await startServer(t)
    using time = takeTime()
    const { seen } = open(`${head}ab`)
    await until(() => time.waiting() === 1)
    await time.advance(limitNamed('requestTimeoutMs') - 1)
    assert.equal((await rawRequest(url, '/at-once')).status, 204)
    assert.equal(seen.received, '')
    await time.advance(1)
    await until(() => seen.hasEnded)
    assert.match(seen.received, /^HTTP\/1\.1 408 [\s\S]*connection: close/i)
    assert.match(seen.received, /^access-control-allow-origin: https:\/\/app.example\r$/m)
  })

  test('of the next request of a connection has the whole time again', async (t) => {
    const { open } = await startServer(t)
    using time = takeTime()
    const { socket, seen } = open(`${head}abcd`)
    const answers = () => seen.received.split('HTTP/1.1 ').length - 1
    await until(() => answers() === 1)
    await time.advance(limitNamed('requestTimeoutMs') / 2)
    socket.write(`${head}ab`)
    await until(() => socket.bytesWritten > 150)
    await time.advance(limitNamed('requestTimeoutMs') / 2)
    socket.write('cd')
    await until(() => answers() === 2)
    assert.equal(seen.received.includes(' 408 '), false)
  })
})

test('a caller that keeps a refused connection open loses it after a while', async (t) => {
  const { open } = await startServer(t)
  using time = takeTime()
  const { seen } = open('no HTTP\r\n\r\n')
  await until(() => seen.hasEnded)
  assert.match(seen.received, /^HTTP\/1\.1 400 /)
  await time.advance(limitNamed('brokenRequestLingerMs') - 1)
  assert.equal(time.waiting(), 1)
  await time.advance(1)
  await until(() => time.waiting() === 0)
})

describe('a server that takes leave', () => {
  test('serves in the lame-duck period and asks clients to connect elsewhere', async (t) => {
    const { server, url, open } = await startServer(t)
    using time = takeTime()
    const lameDuckMs = 10_000
    let isOver = false
    const over = server.drain(lameDuckMs).then(() => {
      isOver = true
    })
    const connection = async () => {
      const { socket, seen } = open(get('/at-once'))
      await until(() => seen.received.endsWith('\r\n\r\n'))
      socket.destroy()
      return seen.received.match(/^connection: (.*)\r$/im)?.[1]
    }
    assert.equal(await connection(), 'close')
    await time.advance(lameDuckMs - limitNamed('listenerSettleMs') - 1)
    assert.equal(await connection(), 'close')
    await time.advance(1)
    // While its listener closes, a client keeps its connection: another could be reset.
    assert.equal(await connection(), 'keep-alive')
    assert.equal(isOver, false)
    await time.advance(limitNamed('listenerSettleMsMax'))
    await over
    await assert.rejects(rawRequest(url, '/at-once'))
  })

  test('closes idle connections after the grace, and keeps those with a request', async (t) => {
    const { server, held, open } = await startServer(t)
    using time = takeTime()
    const idle = open(get('/at-once'))
    await until(() => idle.seen.received !== '')
    const busy = open(get('/held'))
    await until(() => held.length === 1)
    const over = server.drain(0)
    await time.advance(limitNamed('listenerSettleMsMax'))
    await time.advance(limitNamed('idleGraceMs') - 1)
    assert.equal(idle.seen.hasEnded, false)
    await time.advance(1)
    await over
    await until(() => idle.seen.hasEnded)
    assert.equal(busy.seen.hasEnded, false)
    held[0]?.resolve(ended)
    await until(() => busy.seen.received.startsWith('HTTP/1.1 204'))
  })

  test('closes connections whose requests have not ended in their time, and says so', async (t) => {
    const { held, lines, close, open } = await startServer(t)
    using time = takeTime()
    const { seen } = open(get('/held'))
    await until(() => held.length === 1)
    const closing = close()
    await time.advance(limitNamed('drainTimeoutMs') - 1)
    assert.equal(seen.isClosed || seen.hasEnded, false)
    await time.advance(1)
    await closing
    await until(() => seen.hasEnded || seen.isClosed)
    assert.match(String(lines), /closed connections whose requests did not end in time/)
  })
})
