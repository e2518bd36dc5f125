import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pausing } from 'node:timers/promises'
import { freePort } from '../test/support/free-port.ts'
import { acme, callUrl, fetchToken, temporaryFolder } from '../test/support/harness.ts'
import { measure } from './distribution.ts'
import { account } from './world.ts'

const PATH = '/v2/transfer/fiat-accounts?limit=100'

/**
 * The time from the start of a process to its first page of accounts: the built sandbox with a new
 * store, Prism with the same OpenAPI document, and json-server with 100 accounts. The last two are
 * in `folder`.
 */
export async function measureMockServers(folder: string, times: number): Promise<void> {
  const records = Array.from({ length: 100 }, (_, at) => account(at))
  const database = join(temporaryFolder(), 'database.json')
  writeFileSync(database, JSON.stringify({ 'fiat-accounts': records }))
  const program = (name: string) => join(folder, 'node_modules/.bin', name)
  const ofBursar = async (url: string) =>
    read(`${url}${PATH}`, { token: await fetchToken(url, acme) })
  await startOften('Bursar', ofBursar, (port) => ['dist/bin.js', '--json', '--port', port])
  await startOften(
    'Prism',
    (url) => read(`${url}${PATH}`, { token: 'any' }),
    (port) => [program('prism'), 'mock', 'openapi.json', '-p', port],
  )
  await startOften(
    'json-server',
    (url) => read(`${url}/fiat-accounts`),
    (port) => [program('json-server'), database, '-p', port, '--quiet'],
  )

  async function startOften(
    name: string,
    readPage: (url: string) => Promise<void>,
    wordsOf: (port: string) => readonly string[],
  ): Promise<void> {
    await measure(`${name}, start to first page`, times, async () => {
      const port = String(await freePort())
      const DATABASE_URL = `sqlite:${join(temporaryFolder(), 'sandbox.db')}`
      const env = { ...process.env, DATABASE_URL }
      const child = spawn(process.execPath, wordsOf(port), { stdio: 'ignore', env })
      while (!(await succeeds(() => readPage(`http://127.0.0.1:${port}`)))) await pausing(5)
      return async () => {
        child.kill('SIGKILL')
        await once(child, 'exit')
      }
    })
  }
}

async function read(url: string, call: { readonly token?: string } = {}): Promise<void> {
  const { status } = await callUrl(url, call)
  if (status !== 200) throw new Error(`${url} answers ${status}`)
}

const succeeds = (work: () => Promise<void>): Promise<boolean> =>
  work().then(
    () => true,
    () => false,
  )
