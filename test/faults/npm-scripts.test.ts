import assert from 'node:assert/strict'
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:net'
import { join } from 'node:path'
import { after, afterEach, before, describe, test } from 'node:test'
import { openPlace, type StoreLocation, temporaryFolder } from '../support/harness.ts'
import { untilHolds } from '../support/until.ts'

const { PATH = '', HOME = '' } = process.env

/** A script of package.json, started by npm in a separate process group. */
type Script = {
  readonly npm: ChildProcess
  readonly ended: Promise<unknown>
  readonly url: string
  /** Everything on stderr so far. */
  logged(): string
  /** Signals npm alone, or every process of the group as a terminal does. 0 sends nothing. */
  signal(to: 'npm' | 'group', signal: NodeJS.Signals | 0): void
}

let place: StoreLocation
before(async () => {
  place = await openPlace('postgres')
})
after(() => place.remove())

const groups = new Set<number>()
afterEach(() => {
  for (const group of groups) if (isAlive(group)) process.kill(-group, 'SIGKILL')
  groups.clear()
})

async function startScript(words: readonly string[], program = 'npm'): Promise<Script> {
  const npm = spawn(program, words, {
    cwd: new URL('../..', import.meta.url).pathname,
    env: {
      PATH,
      HOME,
      PORT: '0',
      BURSAR_LAME_DUCK_MS: '0',
      LOG_LEVEL: 'info',
      ...(words.includes('--workers')
        ? place.env
        : { DATABASE_URL: `sqlite:${join(temporaryFolder(), 'a.db')}` }),
    },
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const { pid } = npm
  assert.ok(pid !== undefined && pid > 1)
  groups.add(pid)
  const ended = once(npm, 'exit')
  let printed = ''
  let logged = ''
  npm.stdout.setEncoding('utf8').on('data', (text: string) => {
    printed += text
  })
  npm.stderr.setEncoding('utf8').on('data', (text: string) => {
    logged += text
  })
  const found = () => /http:\/\/127\.0\.0\.1:[0-9]+/.exec(printed)?.[0]
  await untilHolds('it prints its URL', () => found() !== undefined)
  const signal: Script['signal'] = (to, name) => process.kill(to === 'npm' ? pid : -pid, name)
  return { npm, ended, url: found() ?? '', logged: () => logged, signal }
}

function isAlive(group: number): boolean {
  try {
    process.kill(-group, 0)
    return true
  } catch {
    return false
  }
}

const childrenOf = (pid: number): number[] =>
  execFileSync('ps', ['-o', 'pid=', '--ppid', String(pid)], { encoding: 'utf8' })
    .trim()
    .split('\n')
    .map(Number)

const isRefused = (url: string): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1')
    socket.once('connect', () => resolve(false)).once('error', () => resolve(true))
    socket.once('connect', () => socket.destroy())
  })

const serve = ['run', '-s', 'bursar', '--', 'serve', '--create']
const scripts = [['start'], serve, [...serve, '--workers', '2']]

for (const words of scripts) {
  describe(`npm ${words.join(' ')}`, () => {
    test('leaves no process and no listener after SIGTERM to npm', async () => {
      const { npm, ended, url, signal } = await startScript(words)
      signal('npm', 'SIGTERM')
      const isGone = async () => !isAlive(npm.pid ?? 0) && (await isRefused(url))
      await untilHolds('no process is left and nothing listens', isGone)
      assert.deepEqual(await ended, [0, null])
    })

    test('ends the server, which answers a request in flight, when npm is killed', async () => {
      const { npm, url, signal } = await startScript(words)
      const request = await beginTokenRequest(url)
      signal('npm', 'SIGKILL')
      await untilHolds('nothing listens', () => isRefused(url))
      assert.match(await request.finish(), /HTTP\/1\.1 401 .*"error":"invalid_client"/s)
      await untilHolds('no process is left', () => !isAlive(npm.pid ?? 0))
    })

    test('reads the configuration again at a SIGHUP to the server, and goes on', async () => {
      const { npm, ended, url, logged, signal } = await startScript(words)
      const [server = 0] = childrenOf(npm.pid ?? 0)
      process.kill(server, 'SIGHUP')
      await untilHolds('it has read it', () => logged().includes('reloading configuration'))
      assert.equal(await isRefused(url), false)
      signal('npm', 'SIGINT')
      assert.deepEqual(await ended, [0, null])
    })

    test('answers a request in flight after Ctrl-C, which npm forwards once more', async () => {
      const { npm, ended, url, signal } = await startScript(words)
      const request = await beginTokenRequest(url)
      signal('group', 'SIGINT')
      await untilHolds('nothing listens', () => isRefused(url))
      assert.match(await request.finish(), /HTTP\/1\.1 401 .*"error":"invalid_client"/s)
      assert.deepEqual(await ended, [0, null])
      await untilHolds('no process is left', () => !isAlive(npm.pid ?? 0))
    })
  })
}

test('npm start ends when its terminal is closed', async (t) => {
  const data = temporaryFolder()
  // Only this test's processes name the folder.
  const left = () =>
    execFileSync('ps', ['-eo', 'pid=,args='], { encoding: 'utf8' })
      .split('\n')
      .filter((line) => line.includes(`sandbox --data ${data}`))
      .map((line) => Number.parseInt(line, 10))
  t.after(() => {
    for (const pid of left()) process.kill(pid, 'SIGKILL')
  })
  const { npm, url } = await startScript(
    ['-qfc', `npm start -- --data ${data}`, '/dev/null'],
    'script',
  )
  assert.ok(left().length > 0)
  // The end of `script` closes the terminal that it made.
  npm.kill('SIGKILL')
  await untilHolds('nothing listens', () => isRefused(url))
  await untilHolds('no process is left', () => left().length === 0)
})

/** Sends a request up to its body, so that the server waits for the rest. */
async function beginTokenRequest(url: string) {
  const body = 'grant_type=client_credentials&client_id=nobody&client_secret=wrong'
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  let received = ''
  socket.setEncoding('utf8').on('data', (text) => {
    received += text
  })
  socket.on('error', () => {})
  const headers = [
    'POST /oauth2/token HTTP/1.1',
    'host: x',
    'content-type: application/x-www-form-urlencoded',
    `content-length: ${body.length}`,
    'expect: 100-continue',
    '\r\n',
  ]
  socket.write(headers.join('\r\n'))
  await once(socket, 'data')
  assert.match(received, /^HTTP\/1\.1 100 /)
  return {
    finish: async () => {
      socket.write(body)
      await once(socket, 'close')
      return received
    },
  }
}
