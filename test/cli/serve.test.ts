import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { createServer } from 'node:http'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { freePort } from '../support/free-port.ts'
import { openPlace, startServiceAt, temporaryFolder } from '../support/harness.ts'
import { runProgram, startProgram } from '../support/program.ts'

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

test('a second server on a store is refused if its tokens would name another issuer', async () => {
  const place = await openPlace('sqlite')
  const first = await startServiceAt(place, { store: 'sqlite' })
  const port = String(await freePort())
  const told = (url: string) =>
    `Another process serves this store as ${first.url}, and this one would serve it as ${url}, so each would refuse the other's tokens. Set BURSAR_PUBLIC_URL to the same URL for both, or use serve --workers.`
  const url = `http://127.0.0.1:${port}`
  await endsWith(['--port', port], told(url), { code: 2, env: place.env })
  await first.stop()
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
  // A killed server leaves no claim behind.
  assert.equal(await program.kill('SIGKILL'), null)
  assert.equal((await runProgram(['migrate'], { env })).code, 0)
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
