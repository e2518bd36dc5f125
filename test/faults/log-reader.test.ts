import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, test } from 'node:test'
import { openPlace, temporaryFolder } from '../support/harness.ts'
import { rawRequest } from '../support/raw-request.ts'
import { until } from '../support/until.ts'

const main = new URL('../../packages/cli/src/main.ts', import.meta.url).pathname
const { PATH = '' } = process.env

const started: ChildProcess[] = []
const opened: number[] = []
afterEach(() => {
  for (const child of started.splice(0)) child.kill('SIGKILL')
  for (const descriptor of opened.splice(0)) closeSync(descriptor)
})

const kinds = ['a pipe', 'a socket'] as const

/** Starts a server whose log goes to a reader that reads nothing until `read` is called. */
async function startUnread(
  kind: (typeof kinds)[number],
  words: readonly string[],
  options = '',
  store: Readonly<Record<string, string>> = {},
) {
  const folder = temporaryFolder()
  const fifo = join(folder, 'log')
  // Both ends are open until the test ends, so that opening one waits for nobody.
  if (kind === 'a pipe') await once(spawn('mkfifo', [fifo]), 'exit')
  const log = kind === 'a pipe' ? openSync(fifo, 'r+') : ('pipe' as const)
  const child = spawn(process.execPath, [main, ...words, '--create', '--port', '0', '--json'], {
    env: {
      PATH,
      LOG_LEVEL: 'info',
      BURSAR_LAME_DUCK_MS: '0',
      NODE_OPTIONS: options,
      DATABASE_URL: `sqlite:${join(folder, 'bursar.db')}`,
      BURSAR_OPERATOR_PORT: '0',
      ...store,
    },
    stdio: ['ignore', 'pipe', log],
  })
  started.push(child)
  if (typeof log === 'number') opened.push(log)
  const ended = once(child, 'exit')
  const [line] = child.stdout === null ? [''] : await once(child.stdout, 'data')
  let heard = ''
  const read = () => {
    const reader = kind === 'a pipe' ? spawn('cat', [fifo]) : undefined
    if (reader !== undefined) started.push(reader)
    const stream = reader === undefined ? child.stderr : reader.stdout
    stream?.setEncoding('utf8').on('data', (text) => {
      heard += text
    })
  }
  return { child, ended, url: String(JSON.parse(String(line)).url), read, heard: () => heard }
}

/** Fills the pipe and the buffer: each request logs some 200 bytes, and is answered in time. */
async function ask(url: string, count: number): Promise<void> {
  const client = async (requests: number) => {
    for (let at = 0; at < requests; at += 1) {
      const { status } = await rawRequest(url, '/healthz', {
        headers: ['x-request-id', 'x'.repeat(128)],
      })
      assert.equal(status, 200)
    }
  }
  await Promise.all(Array.from({ length: 20 }, () => client(count / 20)))
}

describe('a reader of the log that stops', () => {
  for (const kind of kinds) {
    test(`behind ${kind} freezes nothing, and the log tells how many lines it misses`, async () => {
      const { child, ended, url, read, heard } = await startUnread(kind, ['serve'])
      const count = 6000
      await ask(url, count)
      assert.doesNotMatch(heard(), /healthz/)
      read()
      await until(() => /log lines were dropped/.test(heard()))
      const lines = heard()
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line))
      const dropped = lines.filter(({ msg }) => /log lines were dropped/.test(msg))
      const kept = lines.filter(({ operation }) => operation === 'health')
      assert.equal(dropped.length, 1)
      assert.equal(
        dropped[0]?.msg,
        `${dropped[0]?.dropped} log lines were dropped, since nobody read the log`,
      )
      assert.equal(kept.length + dropped[0]?.dropped, count)
      await ask(url, 20)
      await until(() => heard().trimEnd().split('\n').length === lines.length + 20)
      child.kill('SIGTERM')
      assert.deepEqual(await ended, [0, null])
      assert.match(heard(), /"shutting down"/)
    })
  }

  test('does not keep the process from ending by itself, also with workers', async (t) => {
    const place = await openPlace('postgres')
    t.after(place.remove)
    const words = ['serve', '--workers', '2']
    const { child, ended, url } = await startUnread('a pipe', words, '', place.env)
    await ask(url, 2000)
    const signalledAt = performance.now()
    child.kill('SIGTERM')
    assert.deepEqual(await ended, [0, null])
    t.diagnostic(`it ended after ${(performance.now() - signalledAt).toFixed(0)} ms`)
  })
})

describe('a defect that nothing catches', () => {
  const defect = "process.on('SIGUSR2', () => { throw new Error('a test defect') })"
  const options = `--import=data:text/javascript,${encodeURIComponent(defect)}`

  test('is the last line of the log', async () => {
    const { child, ended, url, read, heard } = await startUnread('a pipe', ['serve'], options)
    read()
    await ask(url, 20)
    child.kill('SIGUSR2')
    assert.deepEqual(await ended, [1, null])
    await until(() => heard().includes('a test defect'))
    const last = JSON.parse(heard().trimEnd().split('\n').at(-1) ?? '')
    assert.deepEqual([last.level, last.err.message], ['fatal', 'a test defect'])
    assert.match(last.err.stack, /^ {4}at /)
  })

  test('ends the process even if nobody reads the log', async () => {
    const { child, ended, url } = await startUnread('a pipe', ['serve'], options)
    await ask(url, 2000)
    child.kill('SIGUSR2')
    assert.deepEqual(await ended, [1, null])
  })
})
