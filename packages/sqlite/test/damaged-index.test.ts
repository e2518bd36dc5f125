import assert from 'node:assert/strict'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, before, test } from 'node:test'
import { systemTime } from '@bursar/base'
import { asTenant } from '@bursar/contract'
import { type Store, StoreCorrupted, StoreUnavailable } from '@bursar/records'
import { temporaryFolder } from '../../../test/support/harness.ts'
import { isLong } from '../../../test/support/long.ts'
import { take } from '../../../test/support/record-store.ts'
import { aFiatAccount, anId, anIssuerQuote, aStatement } from '../../../test/support/records.ts'
import { firstPage } from '../../../test/support/selection.ts'
import { testSealing } from '../../../test/support/test-sealing.ts'
import { openWalk } from '../../../test/support/walk-store.ts'
import { fiatAccount } from '../../contract/src/resources/fiat-account.ts'
import { issuerQuoteExecution as issuerQuote } from '../../contract/src/resources/issuer-quote-execution.ts'
import { statement } from '../../contract/src/resources/statement.ts'
import { seeded } from '../../server/test/model/model.ts'
import { compareTables } from '../src/files/compare-tables.ts'
import { openSqliteStore } from '../src/open-sqlite-store.ts'

const RECORDS = 400
const FILES = isLong ? 200 : 24
const PAGE_BYTES = 8192
const customers = ['acme', 'globex'].map(asTenant)

const folder = temporaryFolder()
const whole = join(folder, 'whole.db')
after(() => rmSync(folder, { recursive: true, force: true }))

type Read = { readonly name: string; readonly kind: string; read(store: Store): Promise<string> }

/** Gets of records that exist and of ids that nobody has, and lists with and without filters. */
function reads(): readonly Read[] {
  const lists = [
    { view: fiatAccount.brief, filters: [[], [{ column: 'ref_id', values: ['r7', 'r8', 'r90'] }]] },
    { view: statement.full, filters: [[], [{ column: 'ref_id', values: ['r17', 'r18'] }]] },
    {
      view: issuerQuote.full,
      filters: [
        [],
        [{ column: 'status', values: ['PENDING'] }],
        [{ column: 'id', values: [anId(5), anId(900_001)] }],
      ],
    },
  ] as const
  const made: Read[] = []
  for (const tenant of customers) {
    for (const { view, filters } of lists) {
      const { kind } = view.resource
      for (const anyOf of filters) {
        for (const order of ['ASC', 'DESC'] as const) {
          const selection = { ...firstPage, anyOf: [...anyOf], order, limit: 100 }
          const name = `${tenant} ${kind} ${JSON.stringify(anyOf)} ${order}`
          made.push({
            name,
            kind,
            read: async (store) => {
              const page = await store.customers.page(tenant, view, selection)
              const text = `${page.rows} ${page.more} ${Buffer.from(page.items).toString()}`
              page.release?.()
              return text
            },
          })
        }
      }
    }
  }
  for (const view of [fiatAccount.full, statement.full, issuerQuote.full]) {
    const { kind } = view.resource
    for (let at = 0; at < RECORDS; at += 7) {
      const [id, tenant] = [anId(at), customers[at % 2] ?? customers[0]]
      if (tenant === undefined) continue
      made.push({
        name: `get ${kind} ${id}`,
        kind,
        read: async (store) => String(await store.customers.get(tenant, view, id, true)),
      })
      made.push({
        name: `find ${kind} ${id}`,
        kind,
        read: async (store) => {
          const found = await store.operator.find(view.resource, { id, customerId: undefined })
          return String(found?.line)
        },
      })
    }
  }
  return made
}

const asked = reads()
const expected = new Map<string, string>()

before(async () => {
  const store = openSqliteStore(whole, systemTime.now, testSealing)
  const places = Array.from({ length: RECORDS }, (_, at) => at)
  const common = (at: number) => ({
    id: anId(at),
    customer_id: customers[at % 2],
    ref_id: `r${at}`,
    created_at: `2026-01-01T00:00:${String(at % 60).padStart(2, '0')}Z`,
  })
  await take(
    store,
    'fiat-accounts',
    places.map((at) => aFiatAccount(common(at))),
  )
  await take(
    store,
    'statements',
    places.map((at) => aStatement(common(at))),
  )
  await take(
    store,
    'issuer-quote-executions',
    places.map((at) =>
      anIssuerQuote({ ...common(at), status: ['PENDING', 'COMPLETE', 'FAILED'][at % 3] }),
    ),
  )
  for (const { name, read } of asked) expected.set(name, await read(store))
  await store.close()
  using db = new DatabaseSync(whole)
  db.exec('pragma wal_checkpoint(truncate)')
})

/** A copy of the file with flipped bits, beyond the first page, which only the opening reads. */
function damagedCopy(seed: number): string {
  const random = seeded(seed)
  const path = join(folder, `damaged-${seed}.db`)
  const bytes = readFileSync(whole)
  for (let flips = 1 + random.below(12); flips > 0; flips -= 1) {
    const pages = bytes.length / PAGE_BYTES - 1
    const page = PAGE_BYTES * (1 + random.below(pages))
    // Half of the bits are in the head of a page, where its structure is.
    const at = page + (random.chance(50) ? random.below(64) : random.below(PAGE_BYTES))
    bytes[at] = (bytes[at] ?? 0) ^ (1 << random.below(8))
  }
  writeFileSync(path, bytes, { mode: 0o600 })
  return path
}

/** How often reads were answered as before the damage, with something else, or not at all. */
async function readAll(store: Store) {
  const counts = { right: 0, wrong: 0, refused: 0, corrupted: 0 }
  for (const { name, read } of asked) {
    try {
      counts[(await read(store)) === expected.get(name) ? 'right' : 'wrong'] += 1
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error
      counts[error instanceof StoreCorrupted ? 'corrupted' : 'refused'] += 1
    }
  }
  return counts
}

const isCorruption = (error: unknown): boolean => error instanceof StoreCorrupted

/** Opens a damaged copy, unless its damage is found by the opening itself. */
function opened(path: string): Store | undefined {
  try {
    return openSqliteStore(path, systemTime.now, testSealing)
  } catch {
    return undefined
  }
}

/** Whether a walk over a file finds damage. */
async function isFound(path: string): Promise<boolean> {
  try {
    using db = new DatabaseSync(path)
    await Array.fromAsync(compareTables(db, () => 8))
    return false
  } catch (error) {
    if (!(error instanceof StoreCorrupted)) throw error
    return true
  }
}

test('walks find a file with flipped bits, unless all records in it are as they were', async (t) => {
  assert.equal(await isFound(whole), false)
  const total = { found: 0, right: 0, wrong: 0, refused: 0, corrupted: 0 }
  for (let seed = 1; seed <= FILES; seed += 1) {
    const path = damagedCopy(seed)
    const isCorrupted = await isFound(path)
    if (isCorrupted) total.found += 1
    const store = opened(path)
    if (store === undefined) continue
    const walk = openWalk(store)
    await walk.round()
    const isKnown = isCorrupted || walk.said.length > 0 || walk.failures.some(isCorruption)
    const counts = await readAll(store)
    if (!isKnown) assert.deepEqual([counts.wrong, counts.corrupted], [0, 0], `seed ${seed}`)
    for (const name of ['right', 'wrong', 'refused', 'corrupted'] as const) {
      total[name] += counts[name]
    }
    await store.close()
  }
  t.diagnostic(JSON.stringify(total))
  assert.ok(total.found > 0 && total.wrong > 0 && total.corrupted > 0, JSON.stringify(total))
})
