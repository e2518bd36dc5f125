import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { after, afterEach, before, describe, test } from 'node:test'
import { freePort } from '../support/free-port.ts'
import { openPlace, type StoreLocation } from '../support/harness.ts'
import { longTest } from '../support/long.ts'
import { type MetricsText, parseMetrics, readMetrics } from '../support/metrics-text.ts'
import { type Program, runProgram, startProgram } from '../support/program.ts'
import { rawRequest } from '../support/raw-request.ts'
import { aFiatAccount } from '../support/records.ts'
import { untilHolds as until } from '../support/until.ts'
import { beginRequest } from './support/begun-request.ts'

/** `Program.ended` resolves when the last process that holds its output has exited. */

const count = 3
const form = () =>
  `grant_type=client_credentials&client_id=${client.client_id}&client_secret=${client.client_secret}`

let place: StoreLocation
let env: Readonly<Record<string, string>>
let client: { client_id: string; client_secret: string }
let program: Program | undefined

before(async () => {
  place = await openPlace('postgres')
  env = { ...place.env, LOG_LEVEL: 'debug' }
  const words = ['client', 'create', '--customer', 'acme', '--name', 'workers', '--json']
  client = JSON.parse((await runProgram(words, { env })).output)
  const accounts = Array.from({ length: 300 }, (_, at) =>
    JSON.stringify(aFiatAccount({ id: idOf(at), ref_id: `ref-${at}` })),
  )
  const imported = await runProgram(['import', 'fiat-accounts', '-'], {
    env,
    stdin: accounts.join('\n'),
  })
  assert.equal(imported.code, 0, imported.errors)
})
afterEach(() => program?.kill('SIGKILL'))
after(() => place.remove())

const idOf = (at: number) => `5a51e000-0000-4000-8000-${String(at).padStart(12, '0')}`

function start(given: Readonly<Record<string, string>> = {}): Program {
  program = startProgram(['serve', '--workers', String(count), '--port', '0', '--json'], {
    env: { ...env, ...given },
  })
  return program
}

async function serve(given?: Readonly<Record<string, string>>) {
  const started = start(given)
  const { url } = JSON.parse(await started.firstLine)
  return { program: started, url: String(url) }
}

type Line = { readonly msg: string; readonly pid: number } & Readonly<Record<string, unknown>>

/** The complete lines of the log so far. */
const linesOf = ({ errors }: Program, msg: string): Line[] =>
  errors()
    .split('\n')
    .slice(0, -1)
    .filter((line) => line.startsWith('{'))
    .map((line): Line => JSON.parse(line))
    .filter((line) => line.msg === msg)

const startedPids = (of: Program) => linesOf(of, 'starting a worker').map(({ pid }) => pid)
const readyPids = (of: Program) => linesOf(of, 'a worker is ready').map(({ pid }) => pid)

async function fetchToken(url: string): Promise<string> {
  const answer = await rawRequest(url, '/oauth2/token', {
    method: 'POST',
    headers: ['content-type', 'application/x-www-form-urlencoded'],
    body: form(),
  })
  assert.equal(answer.status, 200, answer.text)
  return JSON.parse(answer.text).access_token
}

const readAccounts = (url: string, token: string) =>
  rawRequest(url, '/v2/transfer/fiat-accounts?limit=1000', {
    headers: ['authorization', `Bearer ${token}`],
  })

const beginRequests = (url: string) =>
  Promise.all(Array.from({ length: 4 * count }, () => beginRequest(url, form())))

type Begun = Awaited<ReturnType<typeof beginRequest>>

const assertAnswered = (begun: readonly Begun[]) =>
  Promise.all(
    begun.map(async ({ socket, received }) => {
      const closed = once(socket, 'close')
      socket.write(form())
      await closed
      assert.match(received(), /HTTP\/1\.1 200 OK\r\n.*"access_token":"[^"]+"/s)
    }),
  )

const isRefused = (url: string) =>
  rawRequest(url, '/healthz').then(
    () => false,
    () => true,
  )

describe('the metrics of several workers', () => {
  const served = ({ sum }: MetricsText) =>
    sum('http_server_request_duration_seconds_count', { operation: 'health', status: '200' })
  const readAll = async (operatorUrl: string) => readMetrics(operatorUrl)

  test('are added, whichever worker answers, and lose those of a dead one', async () => {
    const port = await freePort()
    const { program, url } = await serve({ BURSAR_OPERATOR_PORT: String(port) })
    const operatorUrl = `http://127.0.0.1:${port}`
    const requests = 60
    // Each on a connection of its own, so that several workers take some.
    await Promise.all(Array.from({ length: requests }, () => rawRequest(url, '/healthz')))
    const answering = new Set<number>()
    await until('every worker has answered for all', async () => {
      const { status, text } = await rawRequest(operatorUrl, '/metrics')
      assert.equal(status, 200, text)
      assert.equal(served(parseMetrics(text)), requests)
      answering.add(JSON.parse((await rawRequest(operatorUrl, '/readyz')).text).pid)
      return answering.size === count
    })
    const [first = 0] = readyPids(program)
    process.kill(first, 'SIGKILL')
    await until('a worker takes its place', () => readyPids(program).length === count + 1)
    const left = served(await readAll(operatorUrl))
    assert.ok(left < requests, `${left} of ${requests}`)
  })

  test('are 503 while a worker does not answer', async () => {
    const port = await freePort()
    const { program } = await serve({ BURSAR_OPERATOR_PORT: String(port) })
    const operatorUrl = `http://127.0.0.1:${port}`
    const pid = JSON.parse((await rawRequest(operatorUrl, '/readyz')).text).pid
    const stopped = readyPids(program).find((other) => other !== pid) ?? 0
    process.kill(stopped, 'SIGSTOP')
    try {
      await until('a worker that answers says so', async () => {
        const { status, text } = await rawRequest(operatorUrl, '/metrics')
        if (status !== 503) return false
        assert.match(text, /a worker does not answer, so the metrics cannot be merged/)
        return true
      })
    } finally {
      process.kill(stopped, 'SIGCONT')
    }
    await until('it answers again', async () => {
      return (await rawRequest(operatorUrl, '/metrics')).status === 200
    })
  })
})

describe('serve --workers', () => {
  test('answers a change to the next read of every worker, which has kept the page', async () => {
    const { program, url } = await serve()
    const token = await fetchToken(url)
    /** The first account of every page, once each worker has answered at least three of them. */
    const readByAll = async () => {
      const refs = new Set<string>()
      const before = linesOf(program, 'request').length
      await until('each worker answers', async () => {
        const pages = await Promise.all(
          Array.from({ length: 16 }, () =>
            rawRequest(url, '/v2/transfer/fiat-accounts?limit=3', {
              headers: ['authorization', `Bearer ${token}`],
            }),
          ),
        )
        for (const { text } of pages) refs.add(JSON.parse(text).items[0].ref_id)
        const by = Map.groupBy(linesOf(program, 'request').slice(before), ({ pid }) => pid)
        return by.size === count && [...by.values()].every((lines) => lines.length >= 3)
      })
      return [...refs]
    }
    for (let at = 0; at < 5; at += 1) {
      await readByAll()
      // All accounts have one time, so the first of the list is the one with the highest id.
      const record = aFiatAccount({ id: idOf(299), ref_id: `changed-${at}` })
      const words = ['import', 'fiat-accounts', '-']
      const imported = await runProgram(words, { env, stdin: JSON.stringify(record) })
      assert.equal(imported.code, 0, imported.errors)
      assert.deepEqual(await readByAll(), [`changed-${at}`])
    }
  })

  test('prints one line when all are ready, and every worker has the same issuer', async () => {
    const { program, url } = await serve()
    assert.equal(new Set(readyPids(program)).size, count)
    const issuers = new Set<string>()
    const answering = () => new Set(linesOf(program, 'request').map(({ pid }) => pid))
    await until('every worker answers', async () => {
      const path = '/.well-known/oauth-authorization-server'
      const answers = await Promise.all(Array.from({ length: 16 }, () => rawRequest(url, path)))
      for (const { text } of answers) issuers.add(JSON.parse(text).issuer)
      return answering().size === count
    })
    assert.deepEqual([...answering()].toSorted(), readyPids(program).toSorted())
    assert.deepEqual([...issuers], [url])
    assert.equal(await program.kill('SIGTERM'), 0)
    assert.equal(program.output(), `{"url":"${url}"}\n`)
  })

  test('replaces a worker that is killed under load, and no response is wrong or truncated', async () => {
    const { program, url } = await serve()
    const token = await fetchToken(url)
    const known = (await readAccounts(url, token)).text
    assert.equal(JSON.parse(known).items.length, 300)
    let over = false
    let answered = 0
    const cutOff: string[] = []
    const traffic = async () => {
      while (!over) {
        const answer = await readAccounts(url, token).catch((error) => {
          cutOff.push(error.code)
        })
        if (answer === undefined) continue
        assert.equal(answer.status, 200)
        assert.equal(answer.text, known)
        answered += 1
      }
    }
    const clients = Array.from({ length: 8 }, traffic)
    for (const [at, pid] of readyPids(program).entries()) {
      const before = answered
      await until('traffic goes on', () => answered > before + 50)
      process.kill(pid, 'SIGKILL')
      await until('it is replaced', () => readyPids(program).length === count + at + 1)
    }
    const before = answered
    await until('traffic goes on', () => answered > before + 50)
    over = true
    await Promise.all(clients)
    // Each client has one request in flight. Only those of the killed worker are lost.
    assert.ok(cutOff.length <= 8 * count, `${cutOff.length}`)
    assert.deepEqual(
      cutOff.filter((code) => code !== 'ECONNRESET'),
      [],
    )
    assert.equal(linesOf(program, 'a worker died; starting another').length, count)
    assert.equal(await program.kill('SIGTERM'), 0)
  })

  test('keeps its URL after all workers have died at once', async () => {
    const { program, url } = await serve()
    for (const pid of readyPids(program)) process.kill(pid, 'SIGKILL')
    await until('all are replaced', () => readyPids(program).length === 2 * count)
    assert.equal((await rawRequest(url, '/readyz')).status, 200)
    assert.equal(await program.kill('SIGTERM'), 0)
  })

  test('shares the operator’s port, also with the workers that replace dead ones', async () => {
    const port = await freePort()
    const { program } = await serve({ BURSAR_OPERATOR_PORT: String(port) })
    const ask = async () => {
      const { status, text } = await rawRequest(`http://127.0.0.1:${port}`, '/readyz')
      assert.equal(status, 200)
      const { pid, jobs } = JSON.parse(text)
      // Each worker runs the jobs itself, and answers for itself.
      assert.ok(jobs.some(({ name }: { name: string }) => name === 'sweep-fee-quotes'))
      return Number(pid)
    }
    assert.ok(readyPids(program).includes(await ask()))
    const first = readyPids(program)
    for (const pid of first) process.kill(pid, 'SIGKILL')
    await until('all are replaced', () => readyPids(program).length === 2 * count)
    assert.ok(
      readyPids(program)
        .slice(count)
        .includes(await ask()),
    )
    assert.equal(await program.kill('SIGTERM'), 0)
  })

  test('waits longer each time before it replaces a worker that dies right after its start', async () => {
    const { program, url } = await serve()
    const [lastPid = 0] = readyPids(program).slice(-1)
    process.kill(lastPid, 'SIGKILL')
    const deaths = () => linesOf(program, 'a worker died; starting another')
    for (const times of [1, 2, 3]) {
      await until('another is started', () => startedPids(program).length === count + times)
      assert.equal(deaths().length, times, `death ${times}`)
      const [pid = 0] = startedPids(program).slice(-1)
      process.kill(pid, 'SIGKILL')
      await until('its death is told', () => deaths().length === times + 1)
    }
    // The first one may have lived for so long, on a busy machine, that its death is no early one.
    const delays = deaths()[0]?.delayMs === 0 ? [0, 200, 400, 800] : [200, 400, 800, 1600]
    assert.deepEqual(
      deaths().map(({ delayMs, signal }) => ({ delayMs, signal })),
      delays.map((delayMs) => ({ delayMs, signal: 'SIGKILL' })),
    )
    assert.equal((await rawRequest(url, '/readyz')).status, 200)
    assert.equal(await program.kill('SIGTERM'), 0)
  })

  test('reloads the fee schedule in every worker on SIGHUP', async () => {
    const { program } = await serve()
    program.process.kill('SIGHUP')
    const reloading = () => linesOf(program, 'reloading configuration').map(({ pid }) => pid)
    await until('each has read it', () => reloading().length === count)
    assert.deepEqual(reloading().toSorted(), readyPids(program).toSorted())
    assert.equal(await program.kill('SIGTERM'), 0)
  })
})

describe('the end of serve --workers', () => {
  test('by SIGTERM finishes requests in flight on every worker and exits with 0', async () => {
    const { program, url } = await serve()
    const begun = await beginRequests(url)
    program.process.kill('SIGTERM')
    await until('nobody listens', () => isRefused(url))
    assert.equal(program.process.exitCode, null)
    await assertAnswered(begun)
    assert.equal(await program.ended, 0)
    assert.deepEqual(linesOf(program, 'a worker died; starting another'), [])
  })

  test('by Ctrl-C, which also signals the workers, finishes requests in flight', async () => {
    const { program, url } = await serve()
    const begun = await beginRequests(url)
    for (const pid of [program.process.pid ?? 0, ...readyPids(program)]) process.kill(pid, 'SIGINT')
    await until('nobody listens', () => isRefused(url))
    await assertAnswered(begun)
    assert.equal(await program.ended, 0)
    assert.deepEqual(linesOf(program, 'a worker died; starting another'), [])
  })

  test('by a second signal is immediate', async () => {
    const { program, url } = await serve()
    const begun = await beginRequests(url)
    program.process.kill('SIGTERM')
    await until('nobody listens', () => isRefused(url))
    await until('it ends', () => {
      program.process.kill('SIGTERM')
      return program.process.exitCode !== null
    })
    assert.equal(await program.ended, 1)
    for (const { socket } of begun) socket.destroy()
  })

  test('by a signal during the start of the workers exits with 0 and leaves none', async () => {
    const program = start()
    await until('one starts', () => startedPids(program).length > 0)
    assert.equal(await program.kill('SIGTERM'), 0)
    assert.equal(program.output(), '')
  })

  test('by kill -9 of the primary ends the workers after they finish their requests', async () => {
    const { program, url } = await serve()
    const begun = await beginRequests(url)
    const exited = once(program.process, 'exit')
    program.process.kill('SIGKILL')
    await exited
    await until('nobody listens', () => isRefused(url))
    await assertAnswered(begun)
    assert.equal(await program.ended, null)
  })

  longTest('kills a worker that hangs, and is 1', async (t) => {
    const { program } = await serve()
    const [pid = 0] = readyPids(program)
    process.kill(pid, 'SIGSTOP')
    const signalledAt = performance.now()
    assert.equal(await program.kill('SIGTERM'), 1)
    t.diagnostic(`it ended after ${(performance.now() - signalledAt).toFixed(0)} ms`)
    const killed = linesOf(program, 'these workers did not end in time; killing them')
    assert.deepEqual(
      killed.map(({ pids }) => pids),
      [[pid]],
    )
  })
})

describe('serve --workers that cannot start', () => {
  test('on a port in use exits with 1 and reports it once', async () => {
    const other = createServer()
    other.listen(0, '127.0.0.1')
    await once(other, 'listening')
    const address = other.address()
    const port = typeof address === 'object' ? address?.port : undefined
    const { code, output, errors } = await runProgram(
      ['serve', '--workers', '3', '--port', String(port)],
      { env: { ...env, LOG_LEVEL: 'warn' } },
    )
    other.close()
    assert.deepEqual(
      { code, output, errors },
      {
        code: 1,
        output: '',
        errors: `127.0.0.1:${port} is already in use; choose another port with --port or PORT\n`,
      },
    )
  })

  test('on a configuration fault exits with 2 before a worker is started', async () => {
    const { code, output, errors } = await runProgram(['serve', '--workers', '0'], { env })
    assert.deepEqual(
      { code, output, errors },
      { code: 2, output: '', errors: '--workers must be a whole number from 1 to 64\n' },
    )
  })

  test('on a fault that only a worker finds exits with 2 and reports it once', async () => {
    const { code, output, errors } = await runProgram(['serve', '--port', '0'], {
      env: {
        ...env,
        LOG_LEVEL: 'warn',
        BURSAR_WORKERS: '3',
        BURSAR_MASTER_KEY: Buffer.alloc(32, 1).toString('base64'),
      },
    })
    assert.deepEqual({ code, output }, { code: 2, output: '' })
    assert.match(errors, /^[^\n]*BURSAR_MASTER_KEY[^\n]*\n$/)
  })

  test('because its first worker is killed exits with 1 and one sentence', async () => {
    const program = start({ LOG_LEVEL: 'debug' })
    await until('one starts', () => startedPids(program).length > 0)
    process.kill(startedPids(program)[0] ?? 0, 'SIGKILL')
    assert.equal(await program.ended, 1)
    assert.match(program.errors(), /\na worker was killed by SIGKILL before it was ready\n$/)
  })
})
