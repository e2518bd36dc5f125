import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as passing } from 'node:timers/promises'
import { operatorScopes } from '@bursar/contract'
import type { PostgresServer } from '../support/postgres-server.ts'
import { runProgram } from '../support/program.ts'
import { aFiatAccount, anId } from '../support/records.ts'
import { untilHolds } from '../support/until.ts'
import { askServer } from './support/ask-server.ts'
import { send } from './support/client.ts'
import { type Cluster, databaseName, openCluster, tokenOf, untilTokens } from './support/cluster.ts'

/** A standby that lacks the last changes is promoted, and others follow under the same servers. */

test('no identifier of a change that a fail-over has lost is given to another one', async (t) => {
  // Reads of the standby would show the state before the changes.
  const cluster = await openCluster({
    standbys: ['one'],
    servers: 2,
    env: { DATABASE_READ_URLS: '' },
  })
  t.after(() => cluster.close())
  const [standby] = cluster.standbys
  assert.ok(standby)
  await cluster.addClient('core', null, operatorScopes)
  const clients = {
    operator: await tokenOf(cluster.urls[0] ?? '', 'core'),
    customer: cluster.tokens.get('ash') ?? '',
  }
  const { put, given, follow } = openClients(cluster, clients)
  await put(1, 'ash', 1)
  // Each merge now gets the time after the last one, as behind a clock that was ahead.
  await askServer(
    cluster.primary,
    'set search_path = bursar; update revision set changed_at = changed_at + 86400000000',
  )
  await put(1, 'ash', 2)
  const kept = await given(cluster.primary)
  await cluster.untilLevel()
  await cutOff(standby)

  const change = async (round: number, customer: string) => [
    await put(1, 'ash', 10 * round),
    await put(1, 'ash', 10 * round + 1),
    await put(2, customer, 10 * round + 2),
    await put(3, 'z-9', 3),
  ]
  const lostTags = await change(1, 'z-1')
  const lost = await given(cluster.primary)
  await cluster.primary.kill('SIGKILL')
  await askServer(standby, 'select pg_promote()')
  await untilTokens(cluster.urls)
  const newTags = await change(2, 'z-2')
  const now = await given(standby)

  assert.equal(new Set([...lostTags, ...newTags]).size, 8)
  assert.equal(new Set([kept.list, lost.list, now.list]).size, 3)
  for (const feed of ['events', 'changes'] as const) {
    const isKept = new Set(kept[feed])
    const lostIds = lost[feed].filter((id) => !isKept.has(id))
    assert.deepEqual(now[feed].slice(0, kept[feed].length), kept[feed], feed)
    assert.equal(lostIds.length, feed === 'events' ? 2 : 4)
    assert.ok(new Set(lostIds).isDisjointFrom(new Set(now[feed])), feed)
  }
  const shared = [...lost.lines.keys()].filter((id) => now.lines.has(id))
  assert.ok(shared.length > 0)
  for (const id of shared) assert.equal(now.lines.get(id), lost.lines.get(id))
  assert.deepEqual(await follow(lost), { events: 410, changes: 410, history: 410, customers: 410 })
  assert.deepEqual(await follow(now), { events: 200, changes: 200, history: 200, customers: 200 })
})

/** Ends the replication to a standby, which keeps what it has. */
async function cutOff(standby: PostgresServer): Promise<void> {
  await askServer(standby, "alter system set primary_conninfo = ''")
  await askServer(standby, 'select pg_reload_conf()')
  await untilHolds('the standby receives nothing', async () => {
    const [[receivers] = []] = await askServer(
      standby,
      'select count(*)::text from pg_stat_wal_receiver',
    )
    return receivers === '0'
  })
}

type Cursors = Readonly<Record<'events' | 'changes' | 'history' | 'customers', string>>

/** A customer and the operator, whose requests go to the servers in turn. */
function openClients(
  { urls, env }: Cluster,
  { operator, customer }: { readonly operator: string; readonly customer: string },
) {
  let turn = 0
  const ask = async (
    path: string,
    sent: { readonly method?: string; readonly body?: string } = {},
  ) => {
    const token = path.startsWith('/v2/') ? customer : operator
    for (;;) {
      turn += 1
      const answer = await send(urls[turn % urls.length] ?? '', path, { token, ...sent })
      assert.equal(answer.kind, 'answered', path)
      // A server looks for the new primary by each of its pools.
      if (answer.kind === 'answered' && answer.status !== 503) return answer
      await passing(20)
    }
  }
  const readOk = async (path: string) => {
    const { status, text, headers } = await ask(path)
    assert.equal(status, 200, text)
    return { body: JSON.parse(text), tag: String(headers.etag) }
  }
  const readAll = async (path: string) => {
    const ids: string[] = []
    for (let resume = ''; ; ) {
      const { body } = await readOk(`${path}page_cursor=${resume}`)
      ids.push(...body.items.map(({ id }: { readonly id: string }) => id))
      resume = body.resume_cursor
      if (body.next_page_cursor === undefined)
        return { ids, resume: `${path}page_cursor=${resume}` }
    }
  }
  const [history, customers] = [
    `/ingest/v1/fiat-accounts/${anId(910_001)}/history?limit=3`,
    '/ingest/v1/customers?prefix=z-&limit=1',
  ]
  return {
    /** Stores a version of an account, and returns its tag. */
    put: async (at: number, of: string, number: number) => {
      const id = anId(910_000 + at)
      const details = { account_number: `${number + 1000}12223333` }
      const record = aFiatAccount({
        ref_id: `lost-${at}`,
        customer_id: of,
        fiat_network_instructions: { scb: details },
      })
      const body = JSON.stringify({ ...record, id })
      const answer = await ask(`/ingest/v1/fiat-accounts/${id}`, { method: 'PUT', body })
      assert.ok(answer.status < 300, answer.text)
      return String(answer.headers.etag)
    },
    /** What clients and the auditor get, with the cursors after what was changed last. */
    given: async (primary: PostgresServer) => {
      const events = await readAll('/v2/events?')
      const changes = await readAll('/ingest/v1/changes?')
      const next = async (path: string) =>
        `${path}&page_cursor=${(await readOk(path)).body.next_page_cursor}`
      return {
        list: (await readOk('/v2/transfer/fiat-accounts?limit=5')).tag,
        events: events.ids,
        changes: changes.ids,
        lines: await linesOf(primary, env),
        cursors: {
          events: events.resume,
          changes: changes.resume,
          history: await next(history),
          customers: await next(customers),
        },
      }
    },
    follow: async ({ cursors }: { readonly cursors: Cursors }) => {
      const followed = Object.entries(cursors).map(
        async ([name, path]) => [name, (await ask(path)).status] as const,
      )
      return Object.fromEntries(await Promise.all(followed))
    },
  }
}

/** What `bursar audit` shows, by the identifier of each line. */
async function linesOf(
  primary: PostgresServer,
  env: Cluster['env'],
): Promise<ReadonlyMap<string, string>> {
  const { code, output, errors } = await runProgram(['audit', '--json'], {
    env: { ...env, DATABASE_URL: primary.url('postgres', databaseName) },
  })
  assert.equal(code, 0, errors)
  const lines = output.trimEnd().split('\n')
  return new Map(lines.map((line) => [JSON.parse(line).id, line]))
}
