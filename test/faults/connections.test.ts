import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { connect, type Socket } from 'node:net'
import { afterEach, describe, test } from 'node:test'
import { promisify } from 'node:util'
import { openPlace } from '../support/harness.ts'
import { longTest } from '../support/long.ts'
import { type Program, startProgram } from '../support/program.ts'
import { rawRequest } from '../support/raw-request.ts'
import { untilHolds } from '../support/until.ts'
import { withoutAuditHeads } from '../support/without-audit-heads.ts'
import { listeningPorts, socketsOf } from './support/listening-ports.ts'

const main = new URL('../../packages/cli/src/main.ts', import.meta.url).pathname

let program: Program | undefined
const sockets: Socket[] = []
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy()
  await program?.kill('SIGKILL')
})

async function start(words: readonly string[], env: Readonly<Record<string, string>>) {
  program = startProgram([...words, '--port', '0', '--json'], { env })
  const { url } = JSON.parse(await program.firstLine)
  return { program, url: String(url) }
}

function openSocket(url: string, bytes: string) {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  sockets.push(socket)
  let isClosed = false
  socket.on('error', () => {})
  socket.on('close', () => {
    isClosed = true
  })
  socket.write(bytes)
  return { socket, isClosed: () => isClosed }
}

describe('connections', () => {
  test('of one address are limited in each worker, and the workers go on answering', async (t) => {
    const place = await openPlace('postgres')
    t.after(place.remove)
    const { program: started, url } = await start(['serve', '--workers', '2'], {
      ...place.env,
      BURSAR_CONNECTIONS_PER_ADDRESS_MAX: '5',
    })
    const opened = Array.from({ length: 40 }, () => openSocket(url, ''))
    const left = () => opened.filter(({ isClosed }) => !isClosed()).length
    await untilHolds('the workers hold 10 connections', () => left() <= 10)
    assert.ok(left() >= 5, String(left()))
    assert.match(started.errors(), /BURSAR_CONNECTIONS_PER_ADDRESS_MAX/)
    for (const { socket } of opened) socket.destroy()
    const isServed = async () => {
      const answer = await rawRequest(url, '/healthz').catch(() => undefined)
      return answer?.status === 200
    }
    await untilHolds('the address is served again', isServed)
  })

  /** Opens 200 connections whose peers never close, to both ports. All must be freed. */
  async function assertFreed(bytes: string, answered: RegExp) {
    const { program: started } = await start(['sandbox'], { BURSAR_OPERATOR_PORT: '0' })
    const pid = started.process.pid ?? 0
    const ports = listeningPorts(pid)
    assert.equal(ports.length, 2, 'that of customers and that of the operator')
    // A process also opens files and threads soon after its start.
    const held = () => socketsOf(pid).length
    const before = held()
    const answers = new Map<Socket, string>()
    for (const port of ports) {
      for (let at = 0; at < 100; at += 1) {
        const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
        sockets.push(socket)
        socket.on('error', () => {})
        socket.on('data', (text) => answers.set(socket, `${answers.get(socket) ?? ''}${text}`))
        socket.write(bytes)
      }
    }
    await untilHolds('all are connected and answered', () => answers.size === 200)
    await untilHolds('all are freed', () => held() <= before)
    for (const answer of answers.values()) assert.match(answer, answered)
  }

  test('whose peer never closes are freed after the answer to a broken request', () =>
    assertFreed('no HTTP\r\n\r\n', /^HTTP\/1\.1 400 /))

  longTest('whose peer sends nothing and never closes are freed', () =>
    assertFreed('', /^HTTP\/1\.1 408 /),
  )

  longTest('whose client takes no answer are closed', async (t) => {
    const { program: started, url } = await start(['sandbox'], { LOG_LEVEL: 'warn' })
    const credentials = 'acme_sandbox:bursar_sandbox_secret_of_acme'
    const { access_token: token } = JSON.parse(
      (
        await rawRequest(url, '/oauth2/token', {
          method: 'POST',
          headers: [
            'authorization',
            `Basic ${btoa(credentials)}`,
            'content-type',
            'application/x-www-form-urlencoded',
          ],
          body: 'grant_type=client_credentials',
        })
      ).text,
    )
    const page = `GET /v2/transfer/fiat-accounts?limit=1000 HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${token}\r\n\r\n`
    const sentAt = performance.now()
    openSocket(url, page.repeat(30))
    const isLogged = () => started.errors().includes('did not take an answer in time')
    await untilHolds('the connection is closed', isLogged, 120_000)
    t.diagnostic(`it was closed after ${((performance.now() - sentAt) / 1000).toFixed(1)} s`)
  })
})

describe('a descriptor limit', () => {
  const serveWith = (descriptors: number) =>
    promisify(execFile)(
      'sh',
      [
        '-c',
        `ulimit -n ${descriptors} && exec "$@"`,
        'sh',
        process.execPath,
        main,
        'sandbox',
        '--port',
        '0',
      ],
      // A sandbox that started would never end by itself.
      { env: { PATH: process.env.PATH ?? '', LOG_LEVEL: 'warn' }, timeout: 120_000 },
    )

  test('that is too low stops the start with one sentence', async () => {
    const failure = await serveWith(300).then(
      () => undefined,
      (error: { code: number; stderr: string }) => error,
    )
    assert.equal(failure?.code, 2)
    assert.match(
      withoutAuditHeads(failure.stderr),
      /^the process may open 300 files, which is too few; raise [^\n]+\n$/,
    )
  })
})
