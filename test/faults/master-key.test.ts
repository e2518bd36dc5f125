import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { randomBytes, randomInt } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as passing } from 'node:timers/promises'
import { openPlace, temporaryFolder } from '../support/harness.ts'
import { isLong } from '../support/long.ts'
import { runProgram, startProgram } from '../support/program.ts'
import { aFiatAccount, anId } from '../support/records.ts'
import { untilHolds } from '../support/until.ts'
import { send, statusOf } from './support/client.ts'
import { type BursarServer, serve } from './support/cluster.ts'
import { embedded, postgres } from './support/places.ts'

/** The runbook of docs/running.md for a new master key, followed to the letter. */

const folder = temporaryFolder()
after(() => rmSync(folder, { recursive: true, force: true }))
const section = readFileSync('docs/running.md', 'utf8').split('\n## The master key\n')[1] ?? ''
const [newKey = '', rewrap = ''] = [...section.matchAll(/```sh\n(.*?)```/gs)].map(
  ([, code]) => code,
)
const base = {
  DATABASE_URL: `sqlite:${join(folder, 'bursar.db')}`,
  BURSAR_PUBLIC_URL: 'http://127.0.0.1:1',
  LOG_LEVEL: 'error',
}
const { PATH = '' } = process.env

/** Of each engine. */
const KILLS = isLong ? 60 : 3

/** The settings that a block of the document exports. */
async function environmentAfter(block: string, env: Readonly<Record<string, string>>) {
  const names = ['BURSAR_MASTER_KEY', 'BURSAR_MASTER_KEY_PREVIOUS']
  const show = names.map((name) => `printf '%s\\n' "$${name}"`).join('; ')
  const shell = spawn('bash', ['-euc', `${block}\n${show}`], { env: { PATH, ...env } })
  let printed = ''
  shell.stdout.on('data', (chunk) => {
    printed += chunk
  })
  assert.deepEqual(await once(shell, 'close'), [0, null])
  const [current = '', previous = ''] = printed.split('\n')
  return { BURSAR_MASTER_KEY: current, BURSAR_MASTER_KEY_PREVIOUS: previous }
}

/**
 * Waits until each server gives tokens to a client that was made now. A server reads clients and
 * keys together, so it has read the keys in their present form then.
 */
async function untilRead(servers: readonly BursarServer[], env: Readonly<Record<string, string>>) {
  const { body } = await newClient(env)
  for (const { url } of servers) {
    const isRead = async () =>
      statusOf(await send(url, '/oauth2/token', { method: 'POST', body })) === 200
    await untilHolds('the server has read clients and keys', isRead)
  }
}

async function newClient(
  env: Readonly<Record<string, string>>,
  as: readonly string[] = ['--customer', 'acme'],
): Promise<{ body: string }> {
  const words = ['client', 'create', ...as, '--name', 'treasury', '--json']
  const { code, output, errors } = await runProgram(words, { env })
  assert.equal(code, 0, errors)
  const { client_id, client_secret } = JSON.parse(output)
  const body = `grant_type=client_credentials&client_id=${client_id}&client_secret=${client_secret}`
  return { body }
}

test('no request fails while the master key is changed', async (t) => {
  const old = { ...base, BURSAR_MASTER_KEY: randomBytes(32).toString('base64') }
  const { body } = await newClient(old)
  let token: string | undefined
  const assertServed = async (server: BursarServer, step: string) => {
    const granted = await send(server.url, '/oauth2/token', { method: 'POST', body })
    assert.equal(statusOf(granted), 200, step)
    if (granted.kind === 'answered') token ??= JSON.parse(granted.text).access_token
    const answer = await send(server.url, '/v2/transfer/fiat-accounts', { token })
    assert.equal(statusOf(answer), 200, `${step}: the token of the first step`)
  }
  const first = await serve(old)
  t.after(() => first.program.kill('SIGKILL'))
  await assertServed(first, 'with the old key')

  const both = { ...old, ...(await environmentAfter(newKey, old)) }
  assert.equal(both.BURSAR_MASTER_KEY_PREVIOUS, old.BURSAR_MASTER_KEY)
  await first.program.kill()
  const second = await serve(both)
  t.after(() => second.program.kill('SIGKILL'))
  await assertServed(second, 'with both keys')
  const command = rewrap.trim().split(' -- ')[1]?.split(' ') ?? []
  const rewrapped = await runProgram(command, { env: both })
  assert.equal(rewrapped.code, 0, rewrapped.errors)
  await untilRead([second], both)
  await assertServed(second, 'after the keys were wrapped')

  const { BURSAR_MASTER_KEY_PREVIOUS: _, ...only } = both
  await second.program.kill()
  const third = await serve(only)
  t.after(() => third.program.kill('SIGKILL'))
  await assertServed(third, 'with the new key alone')
})

test('two servers answer every request while the master key is changed under load', async (t) => {
  const place = await openPlace('postgres')
  t.after(place.remove)
  const store = {
    ...base,
    ...place.env,
    BURSAR_LAME_DUCK_MS: '1000',
    BURSAR_OAUTH_REQUESTS_PER_SECOND_MAX: '0',
  }
  const old = { ...store, BURSAR_MASTER_KEY: randomBytes(32).toString('base64') }
  const both = { ...old, ...(await environmentAfter(newKey, old)) }
  const { BURSAR_MASTER_KEY_PREVIOUS: _, ...only } = both
  const { body } = await newClient(old)
  const servers = [await serve(old), await serve(old)]
  t.after(() => Promise.all(servers.map(({ program }) => program.kill('SIGKILL'))))

  // A load balancer: a request goes to a server that is in service, and the other one is replaced.
  const inService = new Set(servers)
  const loads: Promise<void>[] = []
  const ended = new AbortController()
  const statuses = new Map<number | undefined, number>()
  const count = (status: number | undefined) =>
    void statuses.set(status, (statuses.get(status) ?? 0) + 1)
  const load = async () => {
    while (!ended.signal.aborted) {
      for (const { url } of inService) {
        const granted = await send(url, '/oauth2/token', { method: 'POST', body })
        count(statusOf(granted))
        if (granted.kind !== 'answered') continue
        const { access_token: token } = JSON.parse(granted.text)
        for (const other of inService) {
          count(statusOf(await send(other.url, '/v2/transfer/fiat-accounts', { token })))
        }
      }
    }
  }
  for (let at = 0; at < 4; at += 1) loads.push(load())
  const replaceEach = async (env: typeof old) => {
    for (const [at, server] of servers.entries()) {
      inService.delete(server)
      // Requests that were sent to it are answered before it ends.
      await server.program.kill('SIGTERM')
      const replaced = await serve(env)
      servers[at] = replaced
      inService.add(replaced)
    }
  }
  await untilHolds('requests are answered', () => (statuses.get(200) ?? 0) >= 100)
  await replaceEach(both)
  const rotated = await runProgram(['keys', 'rotate-master'], { env: both })
  assert.equal(rotated.code, 0, rotated.errors)
  await untilRead(servers, both)
  await replaceEach(only)
  const before = statuses.get(200) ?? 0
  await untilHolds('requests go on', () => (statuses.get(200) ?? 0) >= before + 100)
  ended.abort()
  await Promise.all(loads)
  assert.deepEqual([...statuses.keys()], [200])
  t.diagnostic(`${statuses.get(200)} requests, each answered with 200`)
})

for (const openStore of [embedded, postgres]) {
  test(`${openStore.name}: records are stored while keys rotate-master is killed`, async (t) => {
    const place = await openStore()
    t.after(place.remove)
    const store = { ...base, ...place.env, LOG_LEVEL: 'info' }
    const [one, other] = [randomBytes(32), randomBytes(32)].map((key) => key.toString('base64'))
    const both = { ...store, BURSAR_MASTER_KEY: one ?? '', BURSAR_MASTER_KEY_PREVIOUS: other ?? '' }
    const back = { ...store, BURSAR_MASTER_KEY: other ?? '', BURSAR_MASTER_KEY_PREVIOUS: one ?? '' }
    const { body } = await newClient(both, ['--operator', '--scope', 'ingest:write_fiat_accounts'])
    const { url, program } = await serve(both)
    t.after(() => program.kill('SIGKILL'))
    const granted = await send(url, '/oauth2/token', { method: 'POST', body })
    assert.ok(granted.kind === 'answered' && granted.status === 200, JSON.stringify(granted))
    const { access_token: token } = JSON.parse(granted.text)
    const statuses = new Map<number, number>()
    let isOver = false
    const put = async (writer: number) => {
      for (let count = 1; !isOver; count += 1) {
        // Each customer is new, so each record needs a key that a key of the store wraps.
        const { id, ...record } = aFiatAccount({
          id: anId(writer * 100_000 + count),
          customer_id: `c${writer}-${count}`,
          ref_id: `${writer} ${count}`,
        })
        const sent = { method: 'PUT', token, body: JSON.stringify(record) }
        const status = statusOf(await send(url, `/ingest/v1/fiat-accounts/${id}`, sent))
        statuses.set(status, (statuses.get(status) ?? 0) + 1)
        await passing(20)
      }
    }
    const writers = [put(1), put(2)]
    // How long a whole command takes decides at which moments it is killed.
    let tookMs = 0
    for (let kill = 0; kill <= KILLS; kill += 1) {
      const startedAt = performance.now()
      const command = startProgram(['keys', 'rotate-master'], { env: kill % 2 === 0 ? back : both })
      if (kill > 0) await Promise.race([passing(randomInt(tookMs)), command.ended])
      const code = await (kill === 0 ? command.ended : command.kill('SIGKILL'))
      if (kill === 0) assert.equal(code, 0, command.errors())
      tookMs ||= Math.ceil(performance.now() - startedAt)
    }
    isOver = true
    await Promise.all(writers)
    const lines = `${program.output()}${program.errors()}`.split('\n')
    const failed = lines.filter((line) => line.includes('"status":503'))
    assert.deepEqual([...statuses.keys()], [201], failed.join('\n'))
    t.diagnostic(`${statuses.get(201)} records were stored beside ${KILLS} kills`)
  })
}
