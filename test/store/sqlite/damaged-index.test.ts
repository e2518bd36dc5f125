import assert from 'node:assert/strict'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, before, describe, test } from 'node:test'
import { asTenant } from '../../../src/contract/principal.ts'
import { systemTime } from '../../../src/platform/time.ts'
import { recordKinds } from '../../../src/resources/catalogue.ts'
import { fiatAccount } from '../../../src/resources/fiat-account.ts'
import { issuerQuoteExecution as issuerQuote } from '../../../src/resources/issuer-quote-execution.ts'
import { statement } from '../../../src/resources/statement.ts'
import type { Store } from '../../../src/store/records.ts'
import { openSqliteStore } from '../../../src/store/sqlite/open-sqlite-store.ts'
import { StoreDamaged, StoreUnavailable } from '../../../src/store/unavailable.ts'
import { seeded } from '../../model/model.ts'
import { temporaryFolder } from '../../support/harness.ts'
import { isLong } from '../../support/long.ts'
import { take } from '../../support/record-store.ts'
import { aFiatAccount, anId, anIssuerQuote, aStatement } from '../../support/records.ts'
import { firstPage } from '../../support/selection.ts'
import { testSealing } from '../../support/test-sealing.ts'

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

/** Which reads were answered with something else than before the damage. */
async function wrongReads(store: Store, kinds: (kind: string) => boolean = () => true) {
  const [wrong, counts]: [string[], { right: number; refused: number }] = [
    [],
    { right: 0, refused: 0 },
  ]
  for (const { name, kind, read } of asked) {
    if (!kinds(kind)) continue
    try {
      if ((await read(store)) === expected.get(name)) counts.right += 1
      else wrong.push(name)
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error
      counts.refused += 1
    }
  }
  return { wrong, ...counts }
}

const isMarked = (store: Store) => (kind: string) =>
  store.damage.found().some((damage) => damage.kind === kind && damage.id === undefined)

/** The file with the first page of an index that is no page. */
function withoutIndex(name: string): Uint8Array {
  using db = new DatabaseSync(whole)
  const found = db.prepare('select rootpage from sqlite_schema where name = ?').get(name)
  const bytes = readFileSync(whole)
  bytes[(Number(found?.rootpage) - 1) * PAGE_BYTES] = 0
  return bytes
}

const listOf = (store: Store) =>
  store.customers.page(asTenant('acme'), statement.full, { ...firstPage, limit: 100 })
const unknownIn = (store: Store) =>
  store.customers.get(asTenant('acme'), statement.full, anId(900_001), true)

/** Opens a damaged copy, unless its damage is found by the opening itself. */
function opened(path: string): Store | undefined {
  try {
    return openSqliteStore(path, systemTime.now, testSealing)
  } catch {
    return undefined
  }
}

describe('a store with flipped bits', () => {
  test('answers nothing wrong of a kind from the first report of damage on', async (t) => {
    const total = { files: 0, reported: 0, wrongBefore: 0, wrong: 0, refused: 0, right: 0 }
    for (let seed = 1; seed <= FILES; seed += 1) {
      const store = opened(damagedCopy(seed))
      if (store === undefined) continue
      total.files += 1
      // Reads until the database itself reports damage. No check has run.
      total.wrongBefore += (await wrongReads(store)).wrong.length
      const reported = recordKinds.filter(isMarked(store))
      const again = await wrongReads(store, isMarked(store))
      total.wrong += again.wrong.length
      assert.deepEqual(again.wrong, [], `seed ${seed}`)
      await store.close()
      total.reported += reported.length
      total.refused += again.refused
      total.right += again.right
    }
    t.diagnostic(JSON.stringify(total))
    assert.ok(total.reported > 0 && total.wrongBefore > 0 && total.right > 0, JSON.stringify(total))
  })

  test('answers nothing wrong of any kind once the background has checked it', async (t) => {
    const total = { files: 0, marked: 0, wrong: 0, refused: 0, right: 0 }
    for (let seed = 1; seed <= FILES; seed += 1) {
      const store = opened(damagedCopy(seed))
      if (store === undefined) continue
      total.files += 1
      await store.damage.checkTables()
      for (let ended = false; !ended; ) ended = await store.damage.scanNext().catch(() => false)
      const { wrong, refused, right } = await wrongReads(store)
      assert.deepEqual(wrong, [], `seed ${seed}: ${JSON.stringify(store.damage.found())}`)
      total.marked += recordKinds.filter(isMarked(store)).length
      total.refused += refused
      total.right += right
      await store.close()
    }
    t.diagnostic(JSON.stringify(total))
    assert.ok(total.marked > 0 && total.refused > 0 && total.right > 0, JSON.stringify(total))
  })

  test('marks a kind again by its first check after a restart, until it is mended', async () => {
    const path = join(folder, 'mended.db')
    writeFileSync(path, withoutIndex('statement_by_ref_id'), { mode: 0o600 })
    for (const _start of ['first', 'again']) {
      const damaged = openSqliteStore(path, systemTime.now, testSealing)
      await damaged.damage.checkTables()
      assert.deepEqual(recordKinds.filter(isMarked(damaged)), ['statements'])
      await assert.rejects(listOf(damaged), StoreDamaged)
      assert.equal(await unknownIn(damaged).catch((error: Error) => error.name), 'StoreUnavailable')
      // Only a check ends the mark.
      await damaged.damage.lookAgain()
      await assert.rejects(listOf(damaged), StoreDamaged)
      await damaged.close()
    }
    writeFileSync(path, readFileSync(whole), { mode: 0o600 })
    const mended = openSqliteStore(path, systemTime.now, testSealing)
    await mended.damage.checkTables()
    assert.equal((await listOf(mended)).rows, 100)
    assert.equal(await unknownIn(mended), undefined)
    await mended.close()
  })
})
