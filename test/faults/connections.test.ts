import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readdirSync, readlinkSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { afterEach, describe, test } from 'node:test'
import { promisify } from 'node:util'
import { freePort } from '../support/free-port.ts'
import { temporaryFolder } from '../support/harness.ts'
import { longTest } from '../support/long.ts'
import { type Program, startProgram } from '../support/program.ts'
import { rawRequest } from '../support/raw-request.ts'
import { untilHolds } from '../support/until.ts'
import { withoutAuditHeads } from '../support/without-audit-heads.ts'

const main = new URL('../../src/main.ts', import.meta.url).pathname

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

/** A process also opens files and threads soon after its start. */
function socketsOf(pid: number | undefined): readonly string[] {
  const folder = `/proc/${pid}/fd`
  return readdirSync(folder).filter((name) => {
    try {
      return readlinkSync(join(folder, name)).startsWith('socket:')
    } catch {
      // It was closed meanwhile.
      return false
    }
  })
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
  test('of one address are limited in each worker, and the workers go on answering', async () => {
    const database = `sqlite:${join(temporaryFolder(), 'bursar.db')}`
    const { program: started, url } = await start(['serve', '--workers', '2'], {
      DATABASE_URL: database,
      BURSAR_CONNECTIONS_PER_ADDRESS_MAX: '5',
    })
    const opened = Array.from({ length: 40 }, () => openSocket(url, ''))
    const left = () => opened.filter(({ isClosed }) => !isClosed()).length
    await untilHolds('the workers hold 10 connections', () => left() <= 10, 10_000)
    assert.ok(left() >= 5, String(left()))
    assert.match(started.errors(), /BURSAR_CONNECTIONS_PER_ADDRESS_MAX/)
    for (const { socket } of opened) socket.destroy()
    const isServed = async () => {
      const answer = await rawRequest(url, '/healthz').catch(() => undefined)
      return answer?.status === 200
    }
    await untilHolds('the address is served again', isServed, 10_000)
  })

  /** Opens 200 connections whose peers never close, to both ports. All must be freed. */
  async function assertFreed(bytes: string, answered: RegExp, withinMs: number) {
    const operatorPort = String(await freePort())
    const { url } = await start(['sandbox'], { BURSAR_OPERATOR_PORT: operatorPort })
    const pid = program?.process.pid
    const held = () => socketsOf(pid).length
    const before = held()
    const answers: string[] = []
    for (const port of [new URL(url).port, operatorPort]) {
      for (let at = 0; at < 100; at += 1) {
        const socket = connect({ port: Number(port), host: '127.0.0.1', allowHalfOpen: true })
        sockets.push(socket)
        socket.on('error', () => {})
        socket.on('data', (text) => answers.push(String(text)))
        socket.write(bytes)
      }
    }
    await untilHolds('all are connected', () => held() >= before + 200, 20_000)
    await untilHolds('all are freed', () => held() <= before, withinMs)
    assert.equal(answers.length, 200)
    for (const answer of answers) assert.match(answer, answered)
  }

  test('whose peer never closes are freed after the answer to a broken request', () =>
    assertFreed('no HTTP\r\n\r\n', /^HTTP\/1\.1 400 /, 20_000))

  longTest('whose peer sends nothing and never closes are freed', () =>
    assertFreed('', /^HTTP\/1\.1 408 /, 60_000),
  )

  longTest('whose client takes no answer are closed after 30 seconds', async () => {
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
    openSocket(url, page.repeat(30))
    const isLogged = () => started.errors().includes('did not take an answer in time')
    const tookMs = await untilHolds('the connection is closed', isLogged, 40_000)
    assert.ok(tookMs > 28_000, String(tookMs))
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
      { env: { PATH: process.env.PATH ?? '', LOG_LEVEL: 'warn' }, timeout: 20_000 },
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
