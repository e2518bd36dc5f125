import assert from 'node:assert/strict'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, describe, test } from 'node:test'
import { DAY_MICROS, openLog, parseInstant, printInstant } from '@bursar/base'
import {
  isKeyedKind,
  isSealedKind,
  type RecordKind,
  recordKinds,
  resources,
} from '@bursar/contract'
import { importEntries } from '@bursar/intake'
import { createStore, openServiceStores, type Stores } from '@bursar/server/stores'
import { configOf, temporaryFolder } from '../../../test/support/harness.ts'
import { operatorToken } from '../../../test/support/operator-token.ts'
import { entriesOf, rules } from '../../../test/support/record-store.ts'
import { describeSandbox } from '../../../test/support/sandbox-control.ts'
import type { Lives } from '../src/lives.ts'
import { deliveriesOf, from, historyOf } from '../src/sample-history.ts'
import { sampleLives } from '../src/sample-records.ts'

const sandbox = describeSandbox()

const now = parseInstant('2026-11-25T21:20:00Z')?.micros ?? 0n

/** What became of the records of two customers: one whose story is fixed, and one that ends now. */
const someLives = (): Lives => {
  const all = sampleLives(now)
  const some = recordKinds.map((kind): [RecordKind, Lives[RecordKind]] => [
    kind,
    all[kind].filter((life) =>
      ['borealis', 'norrholm'].includes(String(life[0]?.record.customer_id)),
    ),
  ])
  return { ...all, ...Object.fromEntries(some) }
}

const opened: Stores[] = []
after(async () => {
  for (const stores of opened) await stores.close()
})

async function openStores(clock: () => bigint) {
  const path = join(temporaryFolder(), 'records.db')
  const config = configOf({ DATABASE_URL: `sqlite:${path}` })
  const sources = { config, clock, log: openLog('silent') }
  await createStore(sources)
  const stores = await openServiceStores(sources)
  await stores.keyring(stores.credentials())
  opened.push(stores)
  return { path, stores }
}

/** What a store has of records, without what is sealed or digested with keys of its own. */
function tablesOf(path: string) {
  using db = new DatabaseSync(path)
  const rows = (text: string) => {
    const statement = db.prepare(text)
    statement.setReadBigInts(true)
    return statement.all()
  }
  const sealed = resources.filter(isSealedKind).map(({ kind }) => `'${kind}'`)
  const keyed = resources.filter(isKeyedKind).map(({ kind }) => `'${kind}'`)
  return {
    ...Object.fromEntries(
      resources.map((resource) => [
        resource.table,
        rows(`select * from ${resource.table} order by position`).map((row) => ({
          ...row,
          ...(isKeyedKind(resource) &&
            !isSealedKind(resource) && { checksum: null, version_mark: null }),
          terms: String(row.terms).replaceAll(/(?<="aprivate )[^"]+/g, ''),
        })),
      ]),
    ),
    full: rows('select customer, id, deleted from fiat_account_full order by customer, id'),
    history: rows(`select *, iif(kind in (${sealed}), null, body) as body,
      iif(kind in (${keyed}), null, checksum) as checksum, null as version_mark
      from history order by customer, change`),
    ...Object.fromEntries(
      ['former_value', 'extent', 'kept_since', 'origin', 'change_state'].map((table) => [
        table,
        rows(`select * from ${table}`),
      ]),
    ),
    revisions: rows('select customer, kind, changed_at, live from revision'),
    customers: rows('select number, id, changes from customer'),
  }
}

test('a history is stored as imports would have stored it at its times', async () => {
  const lives = someLives()
  let time = 0n
  const [imported, stored] = [await openStores(() => time), await openStores(() => now)]
  for (const { resource, at, records } of deliveriesOf(lives)) {
    time = at
    const report = await importEntries(imported.stores.records(), resource, entriesOf(records), {
      dryRun: false,
      allowOlder: false,
      origin: from,
      rules,
    })
    assert.deepEqual(report.faults, [])
    assert.equal(report.added + report.changed, records.length)
  }
  await stored.stores.sandbox?.().storeHistory({ history: historyOf(lives), names: {} })
  const [expected, actual] = [tablesOf(imported.path), tablesOf(stored.path)]
  assert.ok(actual.history.length > 50)
  assert.deepEqual(actual, expected)
})

test('a time that has not come yet counts as now', async () => {
  const early = now - 200n * DAY_MICROS
  const { path, stores } = await openStores(() => early)
  await stores.sandbox?.().storeHistory({ history: historyOf(someLives()), names: {} })
  using db = new DatabaseSync(path)
  const late = db.prepare('select count(*) as rows from history where stored_at > ?')
  // Versions of one record follow each other by a microsecond.
  assert.equal(late.get(early + 1000n)?.rows, 0)
})

const instantOf = (text: string) => parseInstant(text)?.micros ?? 0n

describe('the history of the sample records', () => {
  test('shows what an account and a statement were before they changed', async () => {
    const { 'fiat-accounts': accounts, statements } = sampleLives(now)
    for (const [path, envelope, lives] of [
      ['/v2/transfer/fiat-accounts?', 'items', accounts],
      ['/v2/statements?customer_id=acme&', 'statements', statements],
    ] as const) {
      const life = lives.find((one) => one.length === 3 && one[0]?.record.customer_id === 'acme')
      assert.ok(life !== undefined)
      for (const { at, record } of life) {
        const { body } = await sandbox.call(`${path}limit=1000&as_of=${printInstant(at)}`)
        const shown = body[envelope].find(({ id }: { readonly id: string }) => id === record.id)
        assert.equal(shown?.status, record.status, path)
      }
      assert.notEqual(life[0]?.record.status, life[2]?.record.status)
    }
  })

  test('begins months ago for every kind, and what was before is unknown', async () => {
    for (const path of ['/v2/transfer/fiat-accounts?', '/v2/statements?customer_id=acme&']) {
      const known = await sandbox.call(`${path}limit=1&as_of=2026-07-15T00:00:00Z`)
      assert.equal(known.status, 200, known.text)
      const unknown = await sandbox.call(`${path}limit=1&as_of=2026-06-15T00:00:00Z`)
      assert.equal(unknown.status, 410, unknown.text)
    }
  })

  test('has an event for each version, in the order of their times', async () => {
    const versions = Object.values(sampleLives(now))
      .flat()
      .filter(([first]) => first?.record.customer_id === 'acme')
    const times: bigint[] = []
    let cursor = ''
    for (;;) {
      const { body } = await sandbox.call(`/v2/events?page_cursor=${cursor}`)
      if (body.items.length === 0) break
      times.push(...body.items.map((event: { created_at: string }) => instantOf(event.created_at)))
      cursor = body.resume_cursor
    }
    assert.equal(times.length, versions.flat().length)
    assert.deepEqual(
      times,
      times.toSorted((one, other) => Number(one - other)),
    )
  })

  test('is the same after a reset, with other entity tags', async () => {
    const path = '/v2/transfer/fiat-accounts?limit=2'
    const asOf = `${path}&as_of=2026-09-01T00:00:00Z`
    const read = async () => [await sandbox.call(path), await sandbox.call(asOf)] as const
    const before = await read()
    await sandbox.control('POST', '/sandbox/reset')
    const again = await read()
    const bodies = (calls: Awaited<ReturnType<typeof read>>) =>
      calls.map(({ body: { next_page_cursor: _, ...rest } }) => rest)
    assert.deepEqual(bodies(again), bodies(before))
    assert.notEqual(again[0].headers.get('etag'), before[0].headers.get('etag'))
  })

  test('is of customers with names, which the store counts', async () => {
    const token = await operatorToken(sandbox, 'staff', ['ingest:search'])
    const { body } = await sandbox.call('/ingest/v1/customers?prefix=remit', { token })
    const [tarnfield, ...others] = body.customers
    assert.deepEqual([tarnfield.id, tarnfield.name, others], ['tarnfield', 'Tarnfield Remit', []])
    assert.equal(tarnfield.counts['fiat-accounts'], 15)
  })
})
