import assert from 'node:assert/strict'
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { after, before, describe, test } from 'node:test'
import { promisify } from 'node:util'
import { installClient } from '../support/install-client.ts'
import { killWithUs } from '../support/kill-with-us.ts'

/**
 * The client in Next.js 14, which keeps the answers of its `fetch` on disk for a year, those of a
 * POST too.
 */

const files = {
  'client.js': `import { createBursar } from 'bursar-client'
    const options = { baseUrl: process.env.API_URL, clientId: 'a', clientSecret: 'b' }
    const bursar = createBursar(options)
    export async function read() {
      const { ref_id } = await bursar.fiatAccounts.get('x')
      const list = await bursar.fiatAccounts.list().toArray({ max: 1000 })
      return 'token ' + ref_id + ', records ' + list.length
    }`,
  'app/layout.js': `export default function Layout({ children }) {
      return <html><body>{children}</body></html>
    }`,
  'app/page.js': `import { read } from '../client'
    export default async function Page() {
      return <p>{await read()}</p>
    }`,
  'app/handler/route.js': `import { read } from '../../client'
    export const GET = async () => new Response(await read())`,
  'app/edge/route.js': `import { read } from '../../client'
    export const runtime = 'edge'
    export const GET = async () => new Response(await read())`,
}

let folder: string
let built: string
let baseUrl: string
/** Tokens before this one have expired. */
let firstToken = 1
let tokens = 0
let records = 1
const servers: ChildProcess[] = []

const json = (response: ServerResponse, body: unknown) =>
  response.setHeader('content-type', 'application/json').end(JSON.stringify(body))
const api = createServer(({ url, headers }, response) => {
  if (url === '/oauth2/token') {
    tokens += 1
    return json(response, { access_token: `${tokens}`, expires_in: 900 })
  }
  const token = headers.authorization?.replace('Bearer ', '')
  if (Number(token) < firstToken) return response.writeHead(401).end()
  if (url?.endsWith('/x')) return json(response, { ref_id: token })
  return json(response, { items: Array(records).fill({}) })
})

const next = () => join(folder, 'node_modules/next/dist/bin/next')
const environment = () => ({
  PATH: process.env.PATH ?? '',
  NEXT_TELEMETRY_DISABLED: '1',
  API_URL: baseUrl,
})

/** Starts the built app. Returns its address. */
async function start(): Promise<string> {
  const options = { cwd: folder, env: environment() }
  const words = [next(), 'start', '--hostname', '127.0.0.1', '--port', '0']
  const child = spawn(process.execPath, words, { ...options, stdio: ['ignore', 'pipe', 'inherit'] })
  servers.push(child)
  killWithUs(child)
  for await (const line of createInterface(child.stdout)) {
    const address = /http:\/\/127\.0\.0\.1:\d+/.exec(line)?.[0]
    if (address !== undefined) return address
  }
  return assert.fail('Next.js has not started')
}

before(async () => {
  api.listen(0, '127.0.0.1')
  await once(api, 'listening')
  const address = api.address()
  assert.ok(typeof address === 'object' && address !== null)
  baseUrl = `http://127.0.0.1:${address.port}`
  folder = installClient('next')
  for (const [path, code] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), code)
  }
  const options = { cwd: folder, env: environment() }
  const building = promisify(execFile)(process.execPath, [next(), 'build'], options)
  const { stdout } = await building.catch(({ stdout, stderr }) => assert.fail(stdout + stderr))
  built = stdout
})
after(async () => {
  for (const child of servers) child.kill('SIGKILL')
  api.closeAllConnections()
  api.close()
  rmSync(folder, { recursive: true, force: true })
})

const readAt = async (address: string, path: string) =>
  /token (\d+), records (\d+)/.exec(await (await fetch(`${address}${path}`)).text())?.[0]

describe('in Next.js 14', () => {
  test('a page that reads is rendered for each request, without a word of its author', () => {
    for (const path of ['/', '/handler', '/edge']) {
      assert.match(built, new RegExp(`ƒ ${path} `), path)
    }
    assert.equal(tokens, 0)
  })

  for (const path of ['/', '/handler', '/edge']) {
    test(`neither a token nor a record is kept: ${path}`, async () => {
      let address = await start()
      for (const _ of ['its first requests', 'another process']) {
        for (const _ of ['the first token', 'a newer one']) {
          // Every token expires, and a record is added.
          firstToken = tokens + 1
          records += 1
          assert.equal(await readAt(address, path), `token ${firstToken}, records ${records}`)
          assert.equal(await readAt(address, path), `token ${firstToken}, records ${records}`)
        }
        address = await start()
      }
    })
  }
})
