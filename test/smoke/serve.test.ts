import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { temporaryFolder } from '../support/harness.ts'
import { runProgram, startProgram } from '../support/program.ts'

test('a server makes its store, answers a client, and ends with 0 after SIGTERM', async () => {
  const env = { DATABASE_URL: `sqlite:${join(temporaryFolder(), 'bursar.db')}` }
  const server = startProgram(['serve', '--port', '0', '--json'], { env })
  const { url } = JSON.parse(await server.firstLine)
  assert.equal((await fetch(`${url}/readyz`)).status, 200)
  const words = ['client', 'create', '--customer', 'acme', '--name', 'smoke', '--json']
  const client = JSON.parse((await runProgram(words, { env })).output)
  const answer = await fetch(`${url}/oauth2/token`, {
    method: 'POST',
    headers: { authorization: `Basic ${btoa(`${client.client_id}:${client.client_secret}`)}` },
    body: new URLSearchParams({ grant_type: 'client_credentials' }),
  })
  const { access_token: token } = (await answer.json()) as { access_token: string }
  const headers = { authorization: `Bearer ${token}` }
  const page = await fetch(`${url}/v2/transfer/fiat-accounts`, { headers })
  assert.deepEqual([page.status, await page.json()], [200, { items: [] }])
  assert.equal(await server.kill('SIGTERM'), 0)
})
