import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { RecordInput, RecordKind, RecordRules, Resource } from '../../src/contract/resource.ts'
import { type ImportReport, importEntries } from '../../src/intake/import-file.ts'
import type { Entry } from '../../src/intake/lines.ts'
import { type Clock, systemClock } from '../../src/platform/clock.ts'
import { resources } from '../../src/resources/catalogue.ts'
import { openSqliteStore } from '../../src/store/sqlite/open.ts'
import type { MergeOptions, Store } from '../../src/store/store.ts'
import { temporaryFolder } from './harness.ts'

/** A store of its own, without a server before it. */
export type TestStore = {
  readonly store: Store
  readonly path: string
  take(
    kind: RecordKind,
    records: readonly unknown[],
    options?: Partial<MergeOptions>,
  ): Promise<ImportReport>
  exported(kind: RecordKind): Promise<RecordInput[]>
  /** What a record was before, the oldest version first. */
  superseded(id: string): { storedAt: bigint; replacedAt: bigint; body: string }[]
  close(): Promise<void>
}

export const rules: RecordRules = {
  statementTypes: new Set(['STATEMENT_TYPE_USDG_REWARD']),
  statementProducts: new Set(['USDG_REWARDS']),
  testnets: false,
}

export function resourceOf(kind: RecordKind): Resource {
  const found = resources.find((resource) => resource.kind === kind)
  if (found === undefined) throw new Error(`no kind ${kind}`)
  return found
}

export function openTestStore(clock: Clock = systemClock): TestStore {
  const folder = temporaryFolder()
  const path = join(folder, 'records.db')
  const store = openSqliteStore(path, clock)
  return {
    store,
    path,
    take: (kind, records, options = {}) =>
      importEntries(store, resourceOf(kind), entriesOf(records), {
        dryRun: false,
        allowOlder: false,
        rules,
        ...options,
      }),
    exported: async (kind) => {
      const lines = await Array.fromAsync(store.operator.exportLines(resourceOf(kind), undefined))
      return lines.map((line) => JSON.parse(line))
    },
    superseded: (id) => supersededIn(path, id),
    close: async () => {
      await store.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

function supersededIn(path: string, id: string) {
  const db = new DatabaseSync(path)
  const statement = db.prepare(
    'select stored_at, replaced_at, body from superseded where id = ? order by replaced_at',
  )
  statement.setReadBigInts(true)
  const rows = statement.all(id)
  db.close()
  return rows.map((row) => ({
    storedAt: BigInt(String(row.stored_at)),
    replacedAt: BigInt(String(row.replaced_at)),
    body: String(row.body),
  }))
}

async function* entriesOf(records: readonly unknown[]): AsyncIterable<Entry> {
  for (const [at, value] of records.entries()) yield { line: at + 1, value }
}
