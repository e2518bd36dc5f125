import assert from 'node:assert/strict'
import type { DatabaseSync } from 'node:sqlite'
import { type CustomerKey, smallest, turn } from '@bursar/base'
import { type Resource, resources } from '@bursar/contract'
import {
  addBoundCustomers,
  createImportStaging,
  dropImportStaging,
  emptyStaging,
  ensureKeys,
  indexStaged,
  type KeyMaking,
  leaveChanging,
  type MergeStatements,
  mergeStaged,
  mergeStatements,
  type NamedRow,
  openBindings,
  openCustomerNumbers,
  openRename,
  openWith,
  type SandboxHistory,
  type Seals,
  type Session,
  type StorableRecord,
  sealRecord,
  stagedRows,
  stagingOfAll,
  text,
  whole,
} from '@bursar/records'
import { dialect } from '../dialect.ts'
import { buildingIndexes } from '../import/import-connection.ts'

/**
 * Merges records as imports of earlier times would have, the earliest first, in one transaction. It
 * takes the rules of an import, but looks for no conflict: the records of a sandbox have none.
 */
export async function storeHistory(
  { session, db }: { readonly session: Session; readonly db: DatabaseSync },
  { history, names }: SandboxHistory,
  now: bigint,
  sealing: KeyMaking,
): Promise<void> {
  const keys = new Map<string, CustomerKey>()
  const keyOf = (customerId: string): CustomerKey => {
    const key = keys.get(customerId)
    assert(key !== undefined, 'the keys of a sandbox open')
    return key
  }
  const numbers = openCustomerNumbers(openBindings(sealing))
  const revisions: NamedRow[] = []
  const staging = stagingOfAll(resources, dialect)
  const rowOf = stagedRows(staging)
  await session.run(createImportStaging(staging, dialect))
  await session.run(indexStaged)
  const statementsOf = openStatements()
  for (const { resource, records, at, from } of history) {
    for (const id of new Set(records.map(customerOf))) {
      if (keys.has(id)) continue
      const { current } = await ensureKeys(session, sealing, id)
      if (current !== undefined) keys.set(id, current)
      revisions.push(...(await takeRevisions(session, id)))
    }
    const rows = records.map((record, sequence) =>
      rowOf(sequence, sealRecord(keyOf(record.customerId), resource, record)),
    )
    await session.stage(staging, rows)
    const merge = statementsOf(resource)
    await addBoundCustomers(session, { dialect, numbers }, merge.addCustomers)
    const seals: Pick<Seals, 'open'> = {
      open: (_resource, stored) => {
        const body = openWith(keyOf(stored.customerId), resource, stored)
        return body === undefined ? { fault: 'the body was changed' } : { body }
      },
    }
    const left = await leaveChanging(session, resource, { dialect, seals, merge, repeats: false })
    await session.run(merge.held.hold)
    await mergeStaged(session, resource, {
      dialect,
      merge,
      dryRun: false,
      // A test may have set the clock back to a time within the history.
      now: smallest(at, now),
      rejected: 0,
      left,
      origins: from && [{ from, linesBefore: from.command === 'POST' ? 0 : null }],
      storing: ({ added }, store) => buildingIndexes(db, resource.table, added, store),
    })
    for (const text of emptyStaging) await session.run(text)
    // Other requests have their turn. Nothing else uses the connection until the end.
    await turn()
  }
  await session.run(dropImportStaging)
  const rename = openRename((work) => work(session), dialect)
  for (const [id, name] of Object.entries(names)) await rename(id, name)
  for (const row of revisions) await raiseRevision(session, row)
}

const customerOf = ({ customerId }: StorableRecord): string => customerId

function openStatements(): (resource: Resource) => MergeStatements {
  const opened = new Map<string, MergeStatements>()
  return (resource) => {
    const statements = opened.get(resource.kind) ?? mergeStatements(resource, dialect)
    opened.set(resource.kind, statements)
    return statements
  }
}

/**
 * A merge is later than the one before it, but a reset stores the same history again. So the
 * revisions of a customer are taken away before its first merge, and `raiseRevision` raises the new
 * ones above them: no page gets the entity tag of a page from before.
 */
const takeRevisions = ({ rows }: Session, customerId: string): Promise<readonly NamedRow[]> =>
  rows({
    text: `delete from revision where customer = (select number from customer where id = $1)
      returning customer, kind, changed_at, live`,
    values: [customerId],
  })

async function raiseRevision({ rows }: Session, taken: NamedRow): Promise<void> {
  await rows({
    text: `insert into revision (customer, kind, changed_at, live) values ($1, $2, $3, $4)
      on conflict (customer, kind) do update set
        changed_at = max(changed_at, excluded.changed_at), live = live + excluded.live`,
    values: [
      whole(taken, 'customer'),
      text(taken, 'kind'),
      whole(taken, 'changed_at') + 1n,
      whole(taken, 'live'),
    ],
  })
}
