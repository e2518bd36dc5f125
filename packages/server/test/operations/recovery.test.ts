import assert from 'node:assert/strict'
import { cpSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { systemTime } from '@bursar/base'
import {
  openPlace,
  type StoreLocation,
  startServiceAt,
  type TestService,
  temporaryFolder,
} from '../../../../test/support/harness.ts'
import { operatorToken } from '../../../../test/support/operator-token.ts'
import { aFiatAccount, anId } from '../../../../test/support/records.ts'
import { runBursar } from '../../../../test/support/run-bursar.ts'
import { openTestDatabase } from '../../../../test/support/test-database.ts'

/**
 * A store loses its last changes, as by a restore or a fail-over, and others follow. The clock
 * stands, so that times and numbers are given out a second time.
 */
const NOW = systemTime.now()

/** A place with the same content. Nothing may use the first one meanwhile. */
async function copyOf({ env, superuserUrl }: StoreLocation): Promise<StoreLocation> {
  if (superuserUrl === undefined) {
    const folder = temporaryFolder()
    cpSync(dirname(env.DATABASE_URL?.slice('sqlite:'.length) ?? ''), folder, { recursive: true })
    const url = `sqlite:${join(folder, 'test.db')}`
    return { env: { DATABASE_URL: url }, commandUrl: url, remove: async () => {} }
  }
  const copy = await openTestDatabase(new URL(superuserUrl).pathname.slice(1))
  return {
    env: { ...env, DATABASE_URL: copy.url, OPERATOR_DATABASE_URL: copy.operatorUrl },
    commandUrl: copy.operatorUrl,
    superuserUrl: copy.superuserUrl,
    remove: copy.drop,
  }
}

const scopes = [
  'ingest:write_fiat_accounts',
  'ingest:read_record',
  'ingest:read_history',
  'ingest:read_changes',
  'ingest:search',
] as const

type Store = { readonly service: TestService; readonly token: string }

const as = ({ service, token }: Store, path: string, headers = {}) =>
  service.call(`/ingest/v1/${path}`, { token, headers })

const asAcme = ({ service }: Store, path: string, headers = {}) =>
  service.call(`/v2/${path}`, { headers })

/** Accounts that a list shows alike: they differ where it masks them. */
async function put({ service, token }: Store, id: string, customer: string, number: string) {
  const body = aFiatAccount({
    id,
    ref_id: `recovery-${id}`,
    customer_id: customer,
    fiat_network_instructions: { scb: { account_number: `${number}12223333` } },
  })
  const path = `/ingest/v1/fiat-accounts/${id}`
  const sent = { token, method: 'PUT', body: JSON.stringify(body) }
  const { status, headers } = await service.call(path, sent)
  assert.ok(status < 300, String(status))
  return headers.get('etag') ?? ''
}

const [known, added] = [anId(901), anId(902)]
const list = 'transfer/fiat-accounts?limit=5'
const idsOf = ({
  body,
}: {
  readonly body: { readonly items: readonly { readonly id: string }[] }
}) => body.items.map(({ id }) => id)

async function readChanges(store: Store) {
  const ids: string[] = []
  let resume = ''
  for (let more = true; more; ) {
    const page = await as(store, `changes?limit=1000&page_cursor=${resume}`)
    ids.push(...idsOf(page))
    resume = page.body.resume_cursor
    more = page.body.next_page_cursor !== undefined
  }
  return { ids, resume }
}

/** What the clients of a store get: tags, ids of events, and cursors. */
async function givenBy(store: Store) {
  const events = await asAcme(store, 'events?order=DESC&limit=100')
  const changes = await readChanges(store)
  const history = await as(store, `fiat-accounts/${known}/history?limit=2`)
  const customers = await as(store, 'customers?prefix=z&limit=1')
  const found = await as(store, 'customers?prefix=word&limit=1')
  return {
    record: (await as(store, `fiat-accounts/${known}`)).headers.get('etag') ?? '',
    list: (await asAcme(store, list)).headers.get('etag') ?? '',
    events: idsOf(events),
    changes: changes.ids,
    cursors: {
      events: `events?page_cursor=${events.body.resume_cursor}`,
      changes: `changes?page_cursor=${changes.resume}`,
      history: `fiat-accounts/${known}/history?limit=2&page_cursor=${history.body.next_page_cursor}`,
      customers: `customers?prefix=z&limit=1&page_cursor=${customers.body.next_page_cursor}`,
      named: `customers?prefix=word&limit=1&page_cursor=${found.body.next_page_cursor}`,
    },
  }
}

type Given = Awaited<ReturnType<typeof givenBy>>

const follow = async (store: Store, { cursors }: Pick<Given, 'cursors'>) => {
  const { events, ...others } = cursors
  const answers = [asAcme(store, events), ...Object.values(others).map((path) => as(store, path))]
  return (await Promise.all(answers)).map(({ status }) => status)
}

async function open(place: StoreLocation): Promise<Store> {
  const service = await startServiceAt(place, { clock: () => NOW })
  return { service, token: await operatorToken(service, 'core', scopes) }
}

/** What `bursar audit` shows, by the identifier of each line. */
async function linesOf({ service: { place } }: Store): Promise<ReadonlyMap<string, string>> {
  const shown = await runBursar(place.superuserUrl ?? place.commandUrl, ['audit', '--json'])
  assert.equal(shown.code, 0, shown.err)
  const lines = shown.out.trimEnd().split('\n')
  return new Map(lines.map((line) => [JSON.parse(line).id, line]))
}

/** Stores as many versions each time, so that they get the same numbers and times. */
async function change(store: Store, number: string, customer: string, name: string) {
  const tags = [
    await put(store, known, 'acme', `${number}1`),
    await put(store, known, 'acme', `${number}2`),
  ]
  await put(store, added, customer, `${number}3`)
  await put(store, anId(903), 'z-9', '1003')
  await store.service.parts.store.operator.customers.rename('acme', name)
  return tags
}

let [lost, restored]: Store[] = []
/** What clients were given before the backup, after it, and after the recovery. */
let [kept, gone, now]: Given[] = []
let tags: readonly string[] = []

before(async () => {
  const place = await openPlace()
  const origin = await open({ ...place, remove: async () => {} })
  tags = [await put(origin, known, 'acme', '1000')]
  await origin.service.parts.store.operator.customers.rename('borealis', 'Word C')
  kept = await givenBy(origin)
  await origin.service.stop()
  const copy = await copyOf(place)
  lost = await open(place)
  tags = [...tags, ...(await change(lost, '100', 'z-1', 'Word A'))]
  gone = await givenBy(lost)
  restored = await open(copy)
  tags = [...tags, ...(await change(restored, '200', 'z-2', 'Word Z'))]
  now = await givenBy(restored)
})
after(() => Promise.all([lost?.service.stop(), restored?.service.stop()]))

/** The values of the store before and after the recovery. */
function both() {
  assert.ok(lost && restored && kept && gone && now)
  return { lost, restored, kept, gone, now }
}

describe('after a recovery that has lost changes, while the clock stands', () => {
  test('no version has the entity tag of another one', async () => {
    const { restored, gone, now } = both()
    assert.equal(new Set(tags).size, 5)
    assert.deepEqual([tags[2], tags[4]], [gone.record, now.record])
    const path = `/ingest/v1/fiat-accounts/${known}`
    const headers = { 'if-match': gone.record }
    const { token, service } = restored
    const { status } = await service.call(path, { token, method: 'DELETE', headers })
    assert.equal(status, 412)
  })

  test('no list has the entity tag of another state', async () => {
    const { restored, kept, gone, now } = both()
    assert.equal(new Set([kept.list, gone.list, now.list]).size, 3)
    const statuses = [gone.list, now.list].map(async (tag) => {
      return (await asAcme(restored, list, { 'if-none-match': tag })).status
    })
    assert.deepEqual(await Promise.all(statuses), [200, 304])
  })

  test('events that survived have their ids, and the others have new ones', async () => {
    const { restored, kept, gone, now } = both()
    assert.deepEqual(now.events.slice(2), kept.events.slice(0, -2))
    assert.deepEqual(now.changes.slice(0, -4), kept.changes)
    for (const feed of ['events', 'changes'] as const) {
      const lostIds = new Set(gone[feed]).difference(new Set(kept[feed]))
      const newIds = new Set(now[feed]).difference(new Set(kept[feed]))
      assert.deepEqual([lostIds.size, newIds.size], feed === 'events' ? [2, 2] : [4, 4])
      assert.ok(lostIds.isDisjointFrom(newIds), feed)
      if (feed === 'changes') continue
      for (const id of lostIds) assert.equal((await asAcme(restored, `events/${id}`)).status, 410)
    }
  })

  test('no line of the audit log has the identifier of another one', async () => {
    const { lost, restored } = both()
    const [before, after] = [await linesOf(lost), await linesOf(restored)]
    const shared = [...before.keys()].filter((id) => after.has(id))
    assert.ok(shared.length > 0 && shared.length < Math.min(before.size, after.size))
    for (const id of shared) assert.equal(before.get(id), after.get(id))
  })

  test('a cursor after something that was lost is refused, and every other one goes on', async () => {
    const { restored, kept, gone, now } = both()
    const { named, ...others } = gone.cursors
    assert.deepEqual(
      await follow(restored, { cursors: { ...others, named } }),
      [410, 410, 410, 410, 200],
    )
    assert.deepEqual(await follow(restored, now), [200, 200, 200, 200, 200])
    const { events, changes } = kept.cursors
    assert.deepEqual(idsOf(await asAcme(restored, events)), now.events.slice(0, 2).toReversed())
    assert.equal((await as(restored, changes)).body.items.length, 4)
    // The customer of the place has another name, so the list begins anew with names.
    const { body } = await as(restored, named)
    assert.deepEqual(
      body.customers.map(({ id }: { readonly id: string }) => id),
      ['borealis'],
    )
  })
})
