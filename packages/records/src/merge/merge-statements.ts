import { fullTable, isKeyedKind, isSealedKind, type Resource } from '@bursar/contract'
import type { Dialect } from '../dialect.ts'
import { isKeyedInClear } from '../integrity/checksum.ts'
import { eventOf } from '../records/event-actions.ts'
import {
  addCustomers,
  countChanges,
  customerId,
  customerNumber,
  noteDue,
} from '../schema/customers.ts'
import { addTerms, hasTerms, removeTerms } from '../schema/record-terms.ts'
import { filterColumns, filterValue, memberColumns } from '../schema/tables.ts'
import type { Statement } from '../session.ts'
import { heldStatements } from './held.ts'
import { sameRecord } from './staging.ts'

type Changes = {
  readonly adds: boolean
  readonly replaces: boolean
  readonly storedAt: bigint
}

export type MergeStatements = ReturnType<typeof mergeStatements>

/** Merges `staged` into the stored records, after `conflictQueries` has found nothing. */
export function mergeStatements(resource: Resource, dialect: Dialect) {
  const sets = rowSets(resource, dialect)
  const { replaced, replacedInFull, unchanged, storedBody, storedChecksum } = sets
  const { tableName, listedId } = dialect
  const now = timeOfMerge(dialect)
  const table = tableName(resource.table)
  const full = tableName(fullTable(resource))
  const hasMask = resource.mask !== undefined
  // The unmasked records are replaced by `insert`.
  const supersede = [
    untimed(`update staged_line set was_listed = 1 where sequence in (
         select staged.sequence from ${replaced} and stored.deleted = false)`),
    timed(`insert into ${tableName('history')}
       select '${resource.kind}', stored.customer, ${listedId.of('stored')}, stored.stored_at, ${now},
         stored.change, stored.event, ${storedBody}, stored.deleted_at, stored.source_version, ${storedChecksum},
         ${isKeyedKind(resource) ? `${hasMask ? 'stored_full' : 'stored'}.version_mark` : 'null'}, stored.origin, stored.origin_line, ${hasMask ? 'stored.body, stored.checksum' : 'null, null'}
       from ${replacedInFull}`),
    timed(noteFormerValues(resource, replaced, dialect)),
    ...(resource.terms === undefined
      ? []
      : [untimed(removeTerms(dialect, { ...sets.pairs, row: 'stored' }))]),
    untimed(`delete from ${table} where (customer, deleted, position) in (
         select stored.customer, stored.deleted, stored.position from ${replaced})`),
  ]
  const insert = [
    timed(insertRecords(resource, dialect)),
    ...(resource.terms === undefined ? [] : [untimed(addTerms(dialect, stagedTerms(resource)))]),
    untimed(countChanges(dialect)),
    untimed(noteDue(dialect)),
    timed(`insert into ${tableName('revision')} as known (customer, kind, changed_at, salt, live)
       select customer, '${resource.kind}', ${now}, ${dialect.random}, ${liveAdded}
       from staged where true
       group by customer
       on conflict (customer, kind) do update set
         changed_at = excluded.changed_at, salt = excluded.salt,
         live = known.live + excluded.live`),
    ...(hasMask
      ? [
          // An unmasked record whose masked one was lost replaces nothing, but has the same key.
          untimed(`insert into ${full} as stored (customer, id, deleted, body, checksum, version_mark)
             select customer, id, deleted_at is not null, full_body, full_checksum, version_mark from staged
             where true order by customer, id
             on conflict (customer, id) do update set
               deleted = excluded.deleted, body = excluded.body, checksum = excluded.checksum,
               version_mark = excluded.version_mark`),
        ]
      : []),
  ]
  const reach = [timed(widenExtent(resource, dialect)), timed(noteKeptSince(resource, dialect))]
  return {
    /** The pairs of a staged record and the stored one that it replaces, as what follows `from`. */
    replaced,
    hasReplaced: `select exists (select 1 from ${replaced}) as holds`,
    /** Copies stored deletions to staged records that mention none. */
    keepDeletions: resource.deletable ? keepDeletions(table, dialect) : undefined,
    /**
     * Stages a stored record as it is once it is withdrawn, or deleted. The parameters are its
     * line, its file, the time, the customer and the id.
     */
    stageWithdrawn: stageWithdrawn(resource, dialect),
    /** The stored bodies, of a kind that is sealed, whose digests are those of the staged ones. */
    sameBodies: `
      select staged.sequence, staged.customer_id, staged.id, stored_full.body, stored_full.checksum
      from staged cross join ${full} as stored_full
      where stored_full.customer = staged.customer and stored_full.id = staged.id
        and stored_full.checksum = staged.full_checksum`,
    /**
     * When the records of the staged customers last changed. A merge is later. The customers come
     * first: PostgreSQL would look for each customer of the store in all staged lines.
     */
    lastChange: `
      select max(changed_at) as changed_at
      from (select distinct customer from staged) as merged
      join ${tableName('revision')} as revision
        on revision.customer = merged.customer and revision.kind = '${resource.kind}'`,
    dropUnchanged: `
      delete from staged_line where sequence in (select staged.sequence from ${unchanged})`,
    /** Runs before `changes`, and again adds nothing. */
    addCustomers: addCustomers(dialect),
    /** How many staged records of each file replace a stored one. */
    countReplaced: `
      select staged.file, count(*) as records from ${replaced} group by staged.file`,
    /** What stores the staged records that remain. */
    changes: ({ adds, replaces, storedAt }: Changes): readonly Statement[] =>
      [...(replaces ? supersede : []), ...(adds ? reach : []), ...insert].map(
        ({ text, isTimed }) => ({ text, values: isTimed ? [storedAt] : [] }),
      ),
    held: heldStatements(resource, dialect),
  }
}

const stagedTerms = (resource: Resource) => ({
  from: 'staged',
  where: hasTerms(resource),
  row: 'staged',
})

/** A statement whose only parameter is the time of the merge, and one without parameters. */
const timed = (text: string) => ({ text, isTimed: true })
const untimed = (text: string) => ({ text, isTimed: false })

const timeOfMerge = ({ parameter }: Pick<Dialect, 'parameter'>): string => parameter(1, 'bigint')

/** The row sets of a merge, each as what follows `from`. */
function rowSets(resource: Resource, dialect: Dialect) {
  const { stored, tables, on } = storedInFull(resource, dialect)
  const pairs = { from: `staged cross join ${stored}`, where: sameRecord(dialect) }
  const replaced = `${pairs.from} where ${pairs.where}`
  const hasMask = resource.mask !== undefined
  const replacedInFull = `staged cross join ${tables}
       where ${sameRecord(dialect)} and ${on}`
  const storedBody = hasMask ? 'stored_full.body' : 'stored.body'
  const storedChecksum = hasMask ? 'stored_full.checksum' : 'stored.checksum'
  // Also compares what follows from the body, so that importing a damaged record again mends it.
  const derived = [
    ...memberColumns(resource).map((column) => [`stored.${column}`, `staged.${column}`]),
    [storedChecksum, 'staged.full_checksum'],
    ...(hasMask
      ? [
          ['stored.body', 'staged.masked'],
          ['stored.checksum', 'staged.masked_checksum'],
          ['stored_full.deleted', 'stored.deleted'],
        ]
      : []),
  ]
  // The digest of a sealed body decides, since another sealing of the same body differs.
  const isSame = isSealedKind(resource) ? 'staged.mends = 0' : `${storedBody} = staged.full_body`
  const unchanged = `${replacedInFull}
         and ${isSame}
         and stored.deleted_at is not distinct from staged.deleted_at
         and stored.updated_at is not distinct from staged.updated_at
         and stored.source_version is not distinct from staged.source_version
         and stored.id_taken = (staged.id_taken = 1)
         ${derived.map(([is, derives]) => `and ${is} is not distinct from ${derives}`).join(' ')}`
  return { pairs, replaced, replacedInFull, unchanged, storedBody, storedChecksum }
}

function keepDeletions(table: string, dialect: Dialect): string {
  const isSame = sameRecord(dialect, customerNumber(dialect, 'staged.customer_id'))
  return `
      update staged_line as staged set deleted_at = (
        select stored.deleted_at from ${table} as stored where ${isSame})
      where keeps_deletion = 1 and exists (
        select 1 from ${table} as stored where ${isSame} and stored.deleted = true)`
}

/** The record keeps all that is stored of it. */
function stageWithdrawn(resource: Resource, dialect: Dialect): string {
  const { parameter, listedId } = dialect
  const { tables, on } = storedInFull(resource, dialect)
  const staged = stageStored(resource, dialect, {
    line: parameter(1, 'bigint'),
    file: parameter(2, 'integer'),
    deletedAt: parameter(3, 'bigint'),
    idTaken: 'case when stored.id_taken then 1 else 0 end',
    isLoser: '0',
  })
  return `${staged}
      from ${tables}
      where stored.customer = ${customerNumber(dialect, parameter(4, 'text'))} and ${listedId.is('stored', parameter(5, 'uuid'))}
        and ${on}`
}

type StagedAs = {
  readonly line: string
  readonly file: string
  readonly deletedAt: string
  readonly idTaken: string
  readonly isLoser: string
}

/** Stages stored records, as those that are withdrawn; `from` and its rows follow. */
export function stageStored(
  resource: Resource,
  dialect: Dialect,
  { line, file, deletedAt, idTaken, isLoser }: StagedAs,
): string {
  const members = memberColumns(resource)
  const hasMask = resource.mask !== undefined
  const full = hasMask ? 'stored_full' : 'stored'
  const kept = ['position', ...members, 'updated_at', 'source_version']
  const marks = isKeyedKind(resource)
  return `
      insert into staged_line (sequence, line, file, customer_id, id, ${kept.join(', ')}, full_body, full_checksum,
        masked, masked_checksum, deleted_at, keeps_deletion, id_taken, is_loser, mends${marks ? ', version_mark' : ''})
      select (select coalesce(max(sequence), 0) from staged_line) + row_number() over (), ${line}, ${file},
        ${[customerId(dialect, 'stored.customer'), dialect.listedId.of('stored'), ...kept.map((column) => `stored.${column}`)].join(', ')}, ${full}.body, ${full}.checksum,
        ${hasMask ? 'stored.body, stored.checksum' : 'null, null'},
        coalesce(stored.deleted_at, ${deletedAt}), 0, ${idTaken}, ${isLoser}, 0${marks ? `, ${dialect.random}` : ''}`
}

/** The stored rows of a kind, and beside them the unmasked ones if it has a mask. */
export function storedInFull(resource: Resource, { tableName, indexedBy, listedId }: Dialect) {
  const { table, mask } = resource
  const stored = `${tableName(table)} as stored ${indexedBy(`${table}_by_id`)}`
  if (mask === undefined) return { stored, tables: stored, on: 'true' }
  const tables = `${stored} cross join ${tableName(fullTable(resource))} as stored_full`
  const on = `stored_full.customer = stored.customer and stored_full.id = ${listedId.of('stored')}`
  return { stored, tables, on }
}

/**
 * Inserts in the order of the primary key, which fills the table's pages one after the other. The
 * versions of a customer get the numbers after its last one, in that order. Lines of several files
 * are numbered through. A record that loses a value has another origin.
 */
function insertRecords(resource: Resource, { tableName, ...dialect }: Dialect): string {
  const members = [...dialect.listedId.columns, ...memberColumns(resource)]
  const [body, checksum] =
    resource.mask === undefined ? ['full_body', 'full_checksum'] : ['masked', 'masked_checksum']
  const order = 'staged.deleted_at is not null, staged.position'
  const mark = isKeyedInClear(resource) ? 'version_mark,' : ''
  return `insert into ${tableName(resource.table)} (
         customer, deleted, position, ${members.join(', ')}, body,
         deleted_at, updated_at, source_version, stored_at,
         change, id_taken, event, checksum, ${mark}
         origin, origin_line)
       select owner.number, staged.deleted_at is not null, staged.position, ${members.map((column) => `staged.${column}`).join(', ')}, ${body},
         deleted_at, updated_at, source_version, ${timeOfMerge(dialect)},
         owner.changes + row_number() over (partition by owner.number order by ${order}), id_taken = 1,
         ${eventOf('staged')}, ${checksum}, ${mark}
         case when is_loser = 1 then source.taker else source.origin end, staged.line - source.lines_before
       from staged_line as staged cross join ${tableName('customer')} as owner
         left join staged_origin as source on source.file = staged.file
       where owner.id = staged.customer_id
       order by owner.number, ${order}`
}

/** Notes each value that a record loses, by which a page of the past finds it. */
function noteFormerValues(resource: Resource, replaced: string, dialect: Dialect): string {
  const { tableName } = dialect
  const now = timeOfMerge(dialect)
  const lost = filterColumns(resource).map((column) => {
    const [before, after] = [{ row: 'stored' }, { row: 'staged', body: 'staged.full_body' }].map(
      (from) => filterValue(resource, dialect, from, column),
    )
    return `
       select stored.customer, '${resource.kind}', '${column}', ${before}, stored.position, ${now}
       from ${replaced}
         and ${before} is not null and ${before} is distinct from ${after}`
  })
  return `insert into ${tableName('former_value')} as former (
         customer, kind, member, value, position, until)
       select * from (${lost.join(' union all ')}) as lost where true
       on conflict (customer, kind, member, value, position)
         do update set until = excluded.until`
}

/** How many more of a customer's records are live after the merge; below zero where fewer are. */
const liveAdded = 'sum(case when deleted_at is null then 1 else 0 end - was_listed)'

/** Notes the time of each customer's first record. What was before is unknown. */
const noteKeptSince = ({ kind }: Resource, dialect: Dialect): string =>
  `insert into ${dialect.tableName('kept_since')} (customer, kind, at)
       select distinct customer, '${kind}', ${timeOfMerge(dialect)} from staged where true
       on conflict (customer, kind) do nothing`

/** Notes the first and the last position of each customer whose records reach further now. */
function widenExtent({ kind }: Resource, dialect: Dialect): string {
  const { tableName, lowest, highest } = dialect
  const extent = tableName('extent')
  const known = (column: string) => `(
           select ${column} from ${extent} as known
           where known.customer = reached.customer and known.kind = '${kind}'
           order by changed_at desc limit 1)`
  return `insert into ${extent} (customer, kind, changed_at, low, high)
       select customer, '${kind}', ${timeOfMerge(dialect)},
         case when known_low < low then known_low else low end,
         case when known_high > high then known_high else high end
       from (
         select customer, low, high, ${known('low')} as known_low, ${known('high')} as known_high
         from (
           select customer, ${lowest} as low, ${highest} as high from staged group by customer
         ) as reached
       ) as widened
       where known_low is null or low < known_low or high > known_high`
}
