import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { describe, type TestContext, test } from 'node:test'
import { limitNamed, openLog } from '@bursar/base'
import type { Answer, Route } from '@bursar/contract'
import {
  acme,
  borealis,
  startTestService,
  type TestService,
} from '../../../../test/support/harness.ts'
import { operatorToken } from '../../../../test/support/operator-token.ts'
import { rawRequest } from '../../../../test/support/raw-request.ts'
import { stoppedJobs } from '../../../../test/support/stopped-jobs.ts'
import { until } from '../../../../test/support/until.ts'
import { takeTime, type VirtualTime } from '../../../../test/support/virtual-time.ts'
import { staticDocument } from '../../src/documents/static-document.ts'
import { buildServer } from '../../src/server/build-server.ts'
import {
  openUnsentAnswers,
  type UnsentAnswers,
  type UnsentBounds,
  unsentBoundsWithin,
} from '../../src/server/connections/unsent-answers.ts'

/** Larger than the buffers of the operating system. */
const ANSWER_BYTES = 20_000_000

const ofSize = (bytes: number): Answer => ({
  status: 200,
  headers: { 'content-type': 'text/plain' },
  body: Buffer.alloc(bytes),
})

/** `/CLIENT/RESERVED/BYTES` answers so many bytes to the client. */
async function startServer(t: TestContext, bounds: Partial<UnsentBounds>) {
  const unsent = openUnsentAnswers(bounds)
  const sized: Route = {
    method: 'GET',
    path: '/sized/:client/:reserved/:bytes',
    operation: 'sized',
    answer: async ({ parameters, trace }) => {
      const { client = '', reserved, bytes } = parameters
      trace.client = client
      if (reserved !== '0') await unsent.reserve(client, Number(reserved), trace)
      return ofSize(Number(bytes))
    },
  }
  const document = staticDocument({
    path: '/document',
    operation: 'document',
    contentType: 'text/plain',
    cacheControl: 'no-store',
    body: async () => Buffer.alloc(ANSWER_BYTES),
  })
  const server = await buildServer({
    idleConnectionSeconds: 620,
    log: openLog('silent'),
    corsOrigins: [],
    trustedProxies: [],
    routes: [sized, document],
    unsent,
    background: stoppedJobs(),
  })
  const url = await server.listen('127.0.0.1', 0)
  const silent: Socket[] = []
  t.after(async () => {
    for (const socket of silent) socket.destroy()
    await server.close()
  })
  /** Sends requests on one connection and reads no more than the head of the first answer. */
  const ask = async (...paths: readonly string[]): Promise<Socket> => {
    const { hostname, port } = new URL(url)
    const socket = connect(Number(port), hostname)
    silent.push(socket)
    socket.on('error', () => {})
    socket.write(paths.map((path) => `GET ${path} HTTP/1.1\r\nhost: x\r\n\r\n`).join(''))
    return socket
  }
  const answered = async (socket: Socket): Promise<Socket> => {
    const [bytes] = await once(socket, 'data')
    socket.pause()
    assert.match(String(bytes), /^HTTP\/1\.1 200 /)
    return socket
  }
  return {
    ask,
    /** Opens a connection whose answer stays unread. */
    askAndLeave: async (...paths: readonly string[]) => answered(await ask(...paths)),
    get: (path: string) => rawRequest(url, path),
  }
}

const large = (client: string) => `/sized/${client}/${ANSWER_BYTES}/${ANSWER_BYTES}`
const statusOf = async (answer: Promise<{ readonly status: number }>) => (await answer).status

describe('answers that a client does not read', () => {
  test('make its next large one wait, then refuse it, and no other client’s', async (t) => {
    const { askAndLeave, get } = await startServer(t, { perClientMax: 2 * ANSWER_BYTES })
    using time = takeTime()
    await askAndLeave(large('a'))
    const second = await askAndLeave(large('a'))
    const late = get(large('a'))
    await until(() => time.waiting() === 1)
    assert.equal(await statusOf(get('/sized/a/16384/16384')), 200)
    assert.equal(await statusOf(get(large('b'))), 200)
    await time.advance(limitNamed('unsentWaitMs') - 1)
    assert.equal(time.waiting(), 1)
    await time.advance(1)
    const { status, headers, text } = await late
    assert.deepEqual([status, headers['retry-after']], [503, '1'])
    assert.match(JSON.parse(text).detail, /^too many answers wait for their clients/)
    const waiting = get(large('a'))
    await until(() => time.waiting() === 1)
    second.destroy()
    assert.equal(await statusOf(waiting), 200)
    assert.equal(time.waiting(), 0)
  })

  test('of all clients are bounded together, and clients take turns', async (t) => {
    const { ask, askAndLeave, get } = await startServer(t, { totalMax: 2 * ANSWER_BYTES })
    using time = takeTime()
    const held = [await askAndLeave(large('a')), await askAndLeave(large('b'))]
    const order: string[] = []
    const waiting = ['c', 'c', 'd'].map(async (client, at) => {
      await until(() => time.waiting() === at)
      const { status } = await get(large(client))
      order.push(`${client} ${status}`)
    })
    await until(() => time.waiting() === 3)
    held[0]?.destroy()
    await Promise.all(waiting)
    assert.deepEqual(order, ['c 200', 'd 200', 'c 200'])
    // A client that has gone leaves its place to the next.
    await askAndLeave(large('a'))
    const gone = await ask(large('c'))
    await until(() => time.waiting() === 1)
    gone.destroy()
    await until(() => time.waiting() === 0)
  })

  test('count too where several requests share a connection', async (t) => {
    const { askAndLeave, get } = await startServer(t, { perClientMax: 2 * ANSWER_BYTES })
    using time = takeTime()
    const pipelined = await askAndLeave(large('a'), large('a'), large('a'))
    await until(() => time.waiting() === 1)
    const late = get(large('a'))
    await until(() => time.waiting() === 2)
    pipelined.destroy()
    assert.equal(await statusOf(late), 200)
  })

  test('count as large as they are, but the only one of a client is always sent', async (t) => {
    const { askAndLeave, get } = await startServer(t, { perClientMax: ANSWER_BYTES })
    const twice = `/sized/a/20000/${2 * ANSWER_BYTES}`
    assert.equal(await statusOf(get(twice)), 200)
    const held = await askAndLeave(`/sized/a/20000/${ANSWER_BYTES - 20_000}`)
    assert.equal(await statusOf(get('/sized/a/20000/20001')), 503)
    assert.equal(await statusOf(get('/sized/a/0/20001')), 503)
    assert.equal(await statusOf(get('/sized/a/20000/20000')), 200)
    held.destroy()
    await until(async () => (await get(twice)).status === 200)
  })

  test('leave their place too where two clients go at the same moment', async () => {
    const unsent = openUnsentAnswers({ perClientMax: 100_000, totalMax: 100_000 })
    const traces = [{}, {}]
    const [held, waiting] = traces.map((trace) => unsent.reserve('a', 60_000, trace))
    await held
    for (const trace of traces) unsent.end(trace)
    await assert.rejects(async () => await waiting, { status: 503 })
    await unsent.reserve('a', 60_000, {})
  })

  test('wait for room only as many as the bounds allow', async () => {
    using time = takeTime()
    const unsent = openUnsentAnswers({
      totalMax: 100_000,
      waitingPerClientMax: 2,
      waitingMax: 3,
    })
    await unsent.reserve('a', 100_000, {})
    const waiting = ['a', 'a', 'b'].map((client) => unsent.reserve(client, 100_000, {}))
    await assert.rejects(unsent.reserve('a', 100_000, {}), { status: 503 })
    await assert.rejects(unsent.reserve('b', 100_000, {}), { status: 503 })
    assert.equal(time.waiting(), 3)
    const ended = Promise.allSettled(waiting)
    await time.advance(limitNamed('unsentWaitMs'))
    for (const end of await ended) {
      assert.equal(end.status === 'rejected' && end.reason.status, 503)
    }
  })

  test('are bounded by the memory of the process, so that other lists wait to be read', async () => {
    using time = takeTime()
    const mebibyte = 1024 * 1024
    const unsent = openUnsentAnswers(unsentBoundsWithin(256 * mebibyte))
    // Hundreds of clients that read nothing. Each list of 1,000 reserves two mebibytes.
    const traces = Array.from({ length: 300 }, () => ({}))
    const lists = traces.map((trace, at) => unsent.reserve(`client ${at}`, 2 * mebibyte, trace))
    assert.equal(time.waiting(), 284)
    // Those that go leave their place to as many others.
    for (const trace of traces.slice(0, 100)) unsent.end(trace)
    const ended = await Promise.allSettled(lists.slice(0, 116))
    const read = ended.filter(({ status }) => status === 'fulfilled')
    assert.equal(read.length, 32)
    const late = Promise.allSettled(lists.slice(116))
    await time.advance(limitNamed('unsentWaitMs'))
    assert.ok((await late).every(({ status }) => status === 'rejected'))
    const large = { perClientMax: 32 * mebibyte, totalMax: 256 * mebibyte }
    assert.deepEqual(unsentBoundsWithin(64 * 1024 * mebibyte), large)
  })

  test('do not count where all share one body', async (t) => {
    const { askAndLeave, get } = await startServer(t, { perClientMax: 1, totalMax: 1 })
    for (let at = 0; at < 5; at += 1) await askAndLeave('/document')
    assert.equal(await statusOf(get('/document')), 200)
    assert.equal(await statusOf(get(large('a'))), 200)
  })
})

describe('a service', () => {
  const waitMs = 5000
  const opened = openUnsentAnswers({ perClientMax: 300_000, totalMax: 600_000, waitMs })
  let reserving = 0
  const unsent: UnsentAnswers = {
    ...opened,
    reserve: (...request) => {
      reserving += 1
      return opened.reserve(...request)
    },
  }

  /** Sends a request while the client's answers leave no room; `then` ends its wait. */
  async function whileFull(
    service: TestService,
    call: { readonly path: string; readonly token: string; readonly clientId: string },
    then: (free: () => void, time: VirtualTime) => void | Promise<void>,
  ): Promise<number> {
    const trace = {}
    await unsent.reserve(call.clientId, 299_000, trace)
    const empty = { status: 204, headers: {}, body: undefined }
    const free = () => unsent.hold(empty, { trace, address: '127.0.0.1' })
    using time = takeTime()
    const before = reserving
    const answer = service.call(call.path, { token: call.token })
    await until(() => reserving > before)
    await then(free, time)
    const { status } = await answer
    free()
    return status
  }

  const late = (_free: () => void, time: VirtualTime) => time.advance(waitMs)

  test('makes lists wait for the answers of their client, kept and past ones too', async (t) => {
    const service = await startTestService({ unsent })
    t.after(service.stop)
    const [own, staff] = [
      await service.tokenOf(acme),
      await operatorToken(service, 'staff', ['ingest:read_history']),
    ]
    const accounts = '/v2/transfer/fiat-accounts?limit=100'
    const lists = [
      { path: accounts, token: own, clientId: acme.clientId },
      {
        path: '/ingest/v1/customers/acme/fiat-accounts?limit=100',
        token: staff,
        clientId: 'staff',
      },
    ]
    for (const list of lists) {
      assert.equal(await whileFull(service, list, late), 503, list.path)
      assert.equal(await whileFull(service, list, (free) => free()), 200, list.path)
    }
    // Its second request is the last to be read; later ones are answered from memory.
    const { headers } = await service.call(accounts)
    const kept = { path: accounts, token: own, clientId: acme.clientId }
    assert.equal(await whileFull(service, kept, late), 503)
    await unsent.reserve(acme.clientId, 299_000, {})
    const etag = headers.get('etag') ?? ''
    const unchanged = await service.call(accounts, { headers: { 'if-none-match': etag } })
    assert.equal(unchanged.status, 304)
    const small = await service.call('/v2/transfer/fiat-accounts?limit=1')
    assert.equal(small.status, 200)
    const foreign = await service.call(accounts, { as: borealis })
    assert.equal(foreign.status, 200)
  })
})
