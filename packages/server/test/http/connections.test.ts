import assert from 'node:assert/strict'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { ConfigError, limitNamed, openBackground, readDescriptorLimit } from '@bursar/base'
import { Problem } from '@bursar/contract'
import { pino } from 'pino'
import { startTestService, temporaryFolder } from '../../../../test/support/harness.ts'
import { until } from '../../../../test/support/until.ts'
import { takeTime } from '../../../../test/support/virtual-time.ts'
import { openConnectionBounds } from '../../src/server/connections/connection-bounds.ts'
import { connectionsWithin } from '../../src/server/connections/descriptors.ts'

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

const background = openBackground()

describe('the time to take an answer', () => {
  const answerTakenMs = 150

  /** A server whose answers are larger than the buffers of the operating system. */
  async function startServer(t: TestContext) {
    const { log, lines } = openTestLog()
    const bounds = openConnectionBounds(
      { perAddressMax: 10, trustedProxies: [], answerTakenMs, background },
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
    using time = takeTime()
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
    using time = takeTime()
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

test('connections beyond what the process holds are counted in a line a second', async (t) => {
  using time = takeTime()
  const { log, lines } = openTestLog()
  const bounds = openConnectionBounds({ perAddressMax: 10, trustedProxies: [], background }, log)
  const server = createServer()
  bounds.watch(server)
  t.after(bounds.stop)
  for (let at = 0; at < 50; at += 1) server.emit('drop')
  await time.advance(limitNamed('warningRestMs') - 1)
  assert.equal(lines.length, 1)
  await time.advance(1)
  const told = lines.map((line) => JSON.parse(line))
  assert.deepEqual(
    told.map(({ closed, address, msg }) => ({ closed, address, msg })),
    [1, 49].map((closed) => ({
      closed,
      address: undefined,
      msg: 'refused connections, since the process holds no more',
    })),
  )
})

describe('the limit of an address', () => {
  const limit = { BURSAR_CONNECTIONS_PER_ADDRESS_MAX: '3' }

  /** Opens connections one after another; each sends a request. Returns those still open. */
  async function openMany(url: string, count: number) {
    const opened: ReturnType<typeof openSocket>[] = []
    for (let at = 0; at < count; at += 1) {
      const one = openSocket(url)
      one.read()
      one.socket.write(head('GET /healthz HTTP/1.1'))
      await until(() => one.isClosed() || one.received().includes('"ok"'))
      opened.push(one)
    }
    return opened.filter(({ isClosed }) => !isClosed())
  }

  test('closes one connection too many, until another one is closed', async () => {
    const service = await startTestService({ env: limit })
    const open = await openMany(service.url, 5)
    assert.equal(open.length, 3)
    open[0]?.socket.destroy()
    await until(async () => (await openMany(service.url, 1)).length === 1)
    for (const { socket } of open) socket.destroy()
    await service.stop()
  })

  test('leaves trusted proxies alone and counts their callers’ requests', async () => {
    const service = await startTestService({
      env: { ...limit, BURSAR_TRUSTED_PROXIES: '127.0.0.0/8' },
    })
    assert.equal((await openMany(service.url, 5)).length, 5)
    const all: ReturnType<typeof openSocket>[] = []
    const begin = async (address: string) => {
      const one = openSocket(service.url)
      all.push(one)
      one.read()
      const headers = [`x-forwarded-for: ${address}`, 'content-length: 5', 'expect: 100-continue']
      one.socket.write(head('POST /oauth2/token HTTP/1.1', ...headers))
      await until(() => one.received() !== '')
      return { ...one, status: () => one.received().slice(9, 12) }
    }
    const begun = await Promise.all(Array.from({ length: 3 }, () => begin('192.0.2.1')))
    assert.deepEqual(
      begun.map(({ status }) => status()),
      ['100', '100', '100'],
    )
    const refused = await begin('192.0.2.1')
    assert.match(refused.received(), /^HTTP\/1\.1 429 [\s\S]*retry-after: 1\r\n/)
    assert.match(refused.received(), /your address has too many requests in progress/)
    assert.equal((await begin('192.0.2.2')).status(), '100')
    begun[0]?.socket.destroy()
    await until(async () => (await begin('192.0.2.1')).status() === '100')
    // The server would wait for the rest of these requests.
    for (const { socket } of all) socket.destroy()
    await service.stop()
  })

  test('takes an IPv6 network as one address and bounds the requests of all', () => {
    const bounds = openConnectionBounds(
      { perAddressMax: 2, trustedProxies: ['2001:db8:ffff::/48'], requestsMax: 5, background },
      openTestLog().log,
    )
    const admit = (address: string) => {
      const admitted = bounds.admit(address, '/v2/statements')
      return admitted instanceof Problem
        ? { status: admitted.status, end: () => {}, rest: () => () => {} }
        : { status: 200, ...admitted }
    }
    const first = admit('2001:db8::1')
    const statuses = ['2001:db8::2', '2001:db8::3', '2001:db8:0:1::1', '::ffff:192.0.2.1'].map(
      (address) => admit(address).status,
    )
    assert.deepEqual(statuses, [200, 429, 200, 200])
    assert.equal(admit('2001:db8:ffff::1').status, 200)
    assert.equal(admit('192.0.2.2').status, 503)
    first.end()
    const waiting = admit('2001:db8::3')
    assert.equal(waiting.status, 200)
    const countAgain = waiting.rest()
    const other = admit('2001:db8::4')
    assert.deepEqual([other.status, admit('2001:db8::5').status], [200, 503])
    countAgain()
    waiting.end()
    other.end()
    // Ended while it waits, it must not count again.
    const left = admit('2001:db8::3')
    const comeBack = left.rest()
    left.end()
    comeBack()
    assert.equal(admit('2001:db8::6').status, 200)
    bounds.stop()
  })
})

test('a request whose body is never sent keeps no timer once its connection is cut', async () => {
  const service = await startTestService()
  const { socket, read, received } = openSocket(service.url)
  read()
  socket.write(head('POST /v2/statements HTTP/1.1', 'content-length: 5'))
  await until(() => received().includes('405'))
  socket.destroy()
  await service.stop()
  assert.ok(!process.getActiveResourcesInfo().includes('Timeout'))
})

describe('the descriptor limit', () => {
  test('lowers the number of connections, and warns with what to change', () => {
    const { log, lines } = openTestLog()
    for (const enough of [undefined, 16_256, 1_000_000]) {
      assert.equal(connectionsWithin(enough, log), 16_000)
    }
    assert.deepEqual(lines, [])
    assert.equal(connectionsWithin(1024, log), 768)
    assert.match(lines.join(), /"connectionsMax":768.*raise the limit to 16256 \(ulimit -n/)
  })

  test('stops the start where it leaves too few connections', () => {
    assert.throws(
      () => connectionsWithin(300, openTestLog().log),
      (error) => error instanceof ConfigError && /300 files.*LimitNOFILE/.test(error.message),
    )
  })

  test('is the soft one of /proc/self/limits, and unknown where there is none', () => {
    const file = join(temporaryFolder(), 'limits')
    const line = (soft: string) => `Max open files            ${soft}     524288        files\n`
    for (const [text, limit] of [
      [`Max processes  7  7  processes\n${line('1024')}`, 1024],
      [line('unlimited'), undefined],
      ['', undefined],
    ] as const) {
      writeFileSync(file, text)
      assert.equal(readDescriptorLimit(file), limit, text)
    }
    assert.equal(readDescriptorLimit(`${file}-missing`), undefined)
  })
})
