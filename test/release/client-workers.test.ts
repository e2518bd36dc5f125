import assert from 'node:assert/strict'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import { join } from 'node:path'
import { after, before, beforeEach, describe, test } from 'node:test'
import { build } from 'esbuild'
import { installClient } from '../support/install-client.ts'
import { until } from '../support/until.ts'

/**
 * The client in Workers. A Worker may use what a request has begun until that request ends; a
 * promise of it that another request awaits then never settles.
 */

type Worker = {
  dispatchFetch(url: string, init?: { readonly signal: AbortSignal }): Promise<Response>
  dispose(): Promise<void>
}

const TOKEN_LIFE_SECONDS = 10
/** The first takes no `cache`, and the second is of after that was added. */
const compatibilityDates = ['2023-08-01', '2026-07-01']

let folder: string
let script: string
let openWorker: (compatibilityDate: string) => Worker
let tokens = 0
let reads = 0
let isHolding = false
let held: (() => void)[] = []

const json = (response: ServerResponse, body: unknown) =>
  response.setHeader('content-type', 'application/json').end(JSON.stringify(body))
const api = createServer((request, response) => {
  if (request.url !== '/oauth2/token') {
    reads += 1
    return json(response, { id: request.headers.authorization })
  }
  tokens += 1
  const access_token = `t${tokens}`
  const answer = () => json(response, { access_token, expires_in: TOKEN_LIFE_SECONDS })
  return isHolding ? held.push(answer) : answer()
})

before(async () => {
  folder = installClient('others')
  const contents = `import { createBursar } from 'bursar-client'
    let bursar
    export default {
      async fetch(_request, { baseUrl }) {
        const options = { baseUrl, clientId: 'a', clientSecret: 'b', timeoutMs: 500 }
        bursar ??= createBursar(options)
        const { id } = await bursar.fiatAccounts.get('x')
        return new Response(id)
      },
    }`
  const stdin = { contents, resolveDir: folder }
  const { outputFiles } = await build({ stdin, bundle: true, write: false, format: 'esm' })
  script = outputFiles[0]?.text ?? ''
  api.listen(0, '127.0.0.1')
  await once(api, 'listening')
  const address = api.address()
  assert.ok(typeof address === 'object' && address !== null)
  const baseUrl = `http://127.0.0.1:${address.port}`
  const { Miniflare } = await import(join(folder, 'node_modules/miniflare/dist/src/index.js'))
  openWorker = (compatibilityDate) =>
    new Miniflare({ modules: true, script, bindings: { baseUrl }, compatibilityDate })
})
after(() => {
  api.closeAllConnections()
  api.close()
  rmSync(folder, { recursive: true, force: true })
})
beforeEach(() => {
  isHolding = false
  held = []
  tokens = 0
  reads = 0
})

const read = async (worker: Worker) => {
  const response = await worker.dispatchFetch('http://worker/')
  return `${response.status} ${await response.text()}`
}

for (const compatibilityDate of compatibilityDates) {
  describe(`in a Worker of ${compatibilityDate}`, () => {
    test('calls share a token', async () => {
      const worker = openWorker(compatibilityDate)
      await read(worker)
      const answers = await Promise.all(Array.from({ length: 5 }, () => read(worker)))
      assert.deepEqual([new Set(answers), tokens, reads], [new Set(['200 Bearer t1']), 1, 6])
      await worker.dispose()
    })

    test('a renewal that was lost with its request is begun anew', async () => {
      const worker = openWorker(compatibilityDate)
      assert.equal(await read(worker), '200 Bearer t1')
      isHolding = true
      // The call that begins the renewal ends with the old token, and the renewal with it.
      await until(async () => (await read(worker)) === '200 Bearer t1' && tokens === 2)
      isHolding = false
      await until(async () => (await read(worker)) !== '200 Bearer t1')
      const answers = await Promise.all(Array.from({ length: 5 }, () => read(worker)))
      for (const answer of answers) assert.match(answer, /^200 Bearer t[3-9]$/)
      await worker.dispose()
    })

    test('a request for the first token that was lost is begun anew, for all who wait', async () => {
      const worker = openWorker(compatibilityDate)
      isHolding = true
      const controller = new AbortController()
      const { signal } = controller
      const gone = worker.dispatchFetch('http://worker/', { signal })
      await until(() => tokens === 1)
      const waiting = [read(worker), read(worker)]
      controller.abort()
      await assert.rejects(gone)
      isHolding = false
      const answers = await Promise.all([...waiting, read(worker)])
      assert.deepEqual(new Set(answers).size, 1)
      assert.match(answers[0] ?? '', /^200 Bearer t[2-9]$/)
      await worker.dispose()
    })
  })
}
