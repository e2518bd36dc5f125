import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { createServer } from 'node:http'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { acme, callUrl, fetchToken, temporaryFolder } from '../support/harness.ts'
import { runProgram, startProgram } from '../support/program.ts'
import { rawRequest } from '../support/raw-request.ts'
import { untilHolds } from '../support/until.ts'

test('serve reports in one sentence that its port is in use, and exits', async () => {
  const other = createServer()
  await new Promise<void>((resolve) => {
    other.listen(0, '127.0.0.1', resolve)
  })
  const address = other.address()
  const port = typeof address === 'object' ? address?.port : undefined
  await endsWith(
    ['--port', String(port)],
    `127.0.0.1:${port} is already in use; choose another port with --port or PORT`,
  )
  other.close()
})

test('serve reports in one sentence that its host is not on this machine, and exits', async () => {
  // RFC 5737 reserves the address for documents. RFC 6761 says that .invalid never resolves.
  const env = { BURSAR_PUBLIC_URL: 'https://api.example.com' }
  await endsWith(
    ['--host', '192.0.2.1', '--port', '0'],
    '192.0.2.1 is not an address of this machine; choose another with --host or HOST',
    { env },
  )
  await endsWith(
    ['--host', 'bursar.invalid', '--port', '0'],
    'the host name bursar.invalid cannot be resolved; check its spelling',
    { env },
  )
})

test('serve refuses to derive the issuer of tokens from an address that is not loopback', async () => {
  await endsWith(
    ['--host', '0.0.0.0', '--port', '0'],
    'BURSAR_PUBLIC_URL must be set, because the host 0.0.0.0 is not a loopback address. Set it to the URL that callers use, such as https://api.example.com; it is the issuer of tokens.',
    { code: 2 },
  )
})

test('a second server on an embedded store waits for the first, and starts when that is killed', async (t) => {
  const path = join(temporaryFolder(), 'bursar.db')
  const env = { DATABASE_URL: `sqlite:${path}`, PORT: '0' }
  const first = startProgram(['serve'], { env })
  t.after(() => first.kill('SIGKILL'))
  await first.firstLine
  const second = startProgram(['serve'], { env })
  t.after(() => second.kill('SIGKILL'))
  const sentence = `another process serves the store at ${path}, and an embedded store has one server; end that one, or move to PostgreSQL, which several processes can serve (docs/scaling.md)`
  await untilHolds('it says why it waits', () => second.errors().includes(sentence))
  assert.equal(second.output(), '')
  assert.equal(await first.kill('SIGKILL'), null)
  assert.match(await second.firstLine, /^listening on /)
  assert.equal(second.errors().split(sentence).length, 2, 'it says so once')
  const third = startProgram(['serve'], { env })
  await untilHolds('a third one waits', () => third.errors().includes(sentence))
  assert.equal(await third.kill('SIGTERM'), 1)
  assert.equal(await second.kill('SIGTERM'), 0)
})

// A server that started would never end by itself.
const limited = { timeout: 120_000 }

test('serve refuses a store with public secrets of a sandbox', limited, async () => {
  const data = join(temporaryFolder(), 'a sandbox’s')
  const env = { DATABASE_URL: `sqlite:${join(data, 'sandbox.db')}`, PORT: '0' }
  const statusOf = async (url: string) => {
    const token = fetchToken(url, acme).catch((error: Error) => error.message)
    return (await token).includes('invalid_client') ? 'refused' : 'accepted'
  }
  const runSandbox = async () => {
    const sandbox = startProgram(['sandbox', '--port', '0', '--data', data, '--json'])
    const { url } = JSON.parse(await sandbox.firstLine)
    assert.equal(await statusOf(url), 'accepted')
    const body = JSON.stringify({ seed: 'public' })
    await callUrl(`${url}/sandbox/customers`, { method: 'POST', body })
    assert.equal(await sandbox.kill(), 0)
  }
  await runSandbox()
  const command = `client disable --sandbox --database 'sqlite:${join(data, 'sandbox.db')}'`
  const { code, errors } = await runProgram(['serve'], { env, mustExist: true })
  assert.equal(code, 2)
  assert.match(errors, /^The store has 4 clients of a sandbox, whose secrets are public: [^\n]+\n$/)
  assert.ok(errors.includes(`Disable them with \`npm run -s bursar -- ${command}\`, or`), errors)
  for (const id of ['acme_sandbox', 'borealis_sandbox', 'console_sandbox']) {
    assert.ok(errors.includes(id), id)
  }
  const shell = spawnSync('sh', [
    '-c',
    `"$0" packages/cli/src/main.ts ${command}`,
    process.execPath,
  ])
  const lines = String(shell.stdout).trim().split('\n')
  assert.deepEqual([shell.status, lines.length], [0, 4], String(shell.stderr))
  const program = startProgram(['serve', '--json'], { env, mustExist: true })
  const { url } = JSON.parse(await program.firstLine)
  assert.equal(await statusOf(url), 'refused')
  assert.equal(await program.kill(), 0)
  await runSandbox()
})

test('serve refuses a missing store, and makes one with --create', async () => {
  const path = join(temporaryFolder(), 'data', 'bursar.db')
  const env = { DATABASE_URL: `sqlite:${path}`, PORT: '0' }
  const refused = await runProgram(['serve'], { env, mustExist: true })
  assert.equal(refused.code, 2)
  assert.equal(
    refused.errors,
    `there is no store at ${path}; check DATABASE_URL and that its volume is mounted, or make a new store with \`bursar migrate\` or \`serve --create\`\n`,
  )
  assert.equal(existsSync(dirname(path)), false)
  const program = startProgram(['serve', '--create'], { env })
  assert.match(await program.firstLine, /^listening on /)
  assert.equal(await program.kill(), 0)
})

test('migrate refuses an embedded store while a server uses it; its check does not', async () => {
  const path = join(temporaryFolder(), 'bursar.db')
  const env = { DATABASE_URL: `sqlite:${path}`, PORT: '0' }
  const program = startProgram(['serve', '--create'], { env })
  assert.match(await program.firstLine, /^listening on /)
  const refused = await runProgram(['migrate'], { env })
  assert.deepEqual(
    [refused.code, refused.output, refused.errors],
    [1, '', `a server uses the store at ${path}; stop it, then migrate. Nothing was changed.\n`],
  )
  const checked = await runProgram(['migrate', '--check', '--json'], { env })
  assert.deepEqual([checked.code, JSON.parse(checked.output).applied], [0, []], checked.errors)
  // A killed server leaves no lock behind.
  assert.equal(await program.kill('SIGKILL'), null)
  assert.equal((await runProgram(['migrate'], { env })).code, 0)
})

test('serve has no console until it is configured', async (t) => {
  for (const [env, status] of [
    [{}, 404],
    [{ BURSAR_CONSOLE: 'true' }, 200],
  ] as const) {
    const program = startProgram(['serve', '--port', '0'], {
      env: { ...env, DATABASE_URL: `sqlite:${join(temporaryFolder(), 'bursar.db')}` },
    })
    t.after(() => program.kill('SIGKILL'))
    const [, url = ''] = /(http:\/\/[\d.:]+)/.exec(await program.firstLine) ?? []
    const answer = await rawRequest(url, '/console/')
    assert.equal(answer.status, status, JSON.stringify(env))
    // No sample client's secret is in the page of a real service.
    assert.ok(!answer.text.includes('secret'))
  }
})

async function endsWith(
  options: readonly string[],
  sentence: string,
  { code = 1, env = {} }: { code?: number; env?: Readonly<Record<string, string>> } = {},
): Promise<void> {
  const store = { DATABASE_URL: `sqlite:${join(temporaryFolder(), 'bursar.db')}` }
  const ran = await runProgram(['serve', ...options], { env: { ...store, ...env } })
  assert.equal(ran.code, code, ran.errors)
  assert.equal(ran.errors.trim().split('\n').at(-1), sentence)
}
