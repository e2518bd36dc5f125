import { openRandomPool } from '@bursar/base'
import { isKeyedKind, isSealedKind, type Resource } from '@bursar/contract'
import type { Dialect } from '../dialect.ts'
import { bodyChecksum } from '../integrity/checksum.ts'
import type { SealedRecord } from '../records/import.ts'
import { customerNumber } from '../schema/customers.ts'
import { memberColumns } from '../schema/tables.ts'
import type { StagedValue, Staging } from '../session.ts'

/**
 * The temporary table of staged records, whose rows the view `staged` shows with the numbers of
 * their customers. The column `sequence` is the number of a record in its import.
 */
export const stagingOf = (resource: Resource, dialect: Dialect): Staging => ({
  table: 'staged_line',
  columns: Object.fromEntries(
    stagedColumns(resource).map((column) => [column, typeOf(column, dialect)]),
  ),
})

/**
 * The same for single records. A column has the number of the customer, so that PostgreSQL looks
 * stored records up by it: null for a customer without records.
 */
export const putStagingOf = (resource: Resource, dialect: Dialect): Staging => ({
  ...stagingOf(resource, dialect),
  computed: { customer: customerNumber(dialect, 'line.customer_id') },
})

/** The columns of `stagingOf` for every kind. */
export const stagingOfAll = (resources: readonly Resource[], dialect: Dialect): Staging => ({
  table: 'staged_line',
  columns: Object.assign({}, ...resources.map((resource) => stagingOf(resource, dialect).columns)),
})

const stagedColumns = (resource: Resource): readonly string[] => [
  'sequence',
  'file',
  'line',
  'raw',
  ...contentColumns(resource),
  ...(isSealedKind(resource) ? ['full_body'] : ['full_checksum']),
  ...(isKeyedKind(resource) ? ['version_mark'] : []),
  'masked',
  'masked_checksum',
  'keeps_deletion',
  'key_id',
  'mends',
]

const typeOf = (column: string, { types }: Dialect): string =>
  ({
    sequence: types.rowNumber,
    file: 'integer',
    line: 'bigint',
    raw: 'text',
    id: types.id,
    position: types.position,
    full_body: 'text',
    full_checksum: 'bigint',
    version_mark: 'bigint',
    masked: 'text',
    masked_checksum: 'bigint',
    deleted_at: 'bigint',
    updated_at: 'bigint',
    source_version: 'bigint',
    keeps_deletion: 'smallint',
    mends: 'smallint',
  })[column] ?? types.key

/** Creates the staging tables of single records, which a session keeps. */
export const createPutStaging = (staging: Staging, { types }: Dialect): string => `
  ${createLetGo('')};
  ${createStaging(staging, `customer ${types.customer}`)};
  create temporary view staged as select * from staged_line`

/** To truncate them with each commit would make PostgreSQL plan every statement on them again. */
export const emptyStaging = [
  'delete from staged_line',
  'delete from staged_origin',
  'delete from let_go',
]

/** Looks the numbers of customers up that have just been added, or whose records were not sent. */
export const numberStaged = (dialect: Dialect): string =>
  `update staged_line set customer = ${customerNumber(dialect, 'customer_id')} where customer is null`

/**
 * The last columns are what no record brings: it has lost its id to another customer's record, or
 * another record of the merge takes a value from it, which withdraws it; and it replaces a record
 * that is neither deleted nor withdrawn. `staged_origin` has who
 * stores the records of each file, by its number, and what withdraws the records from which they
 * take a value. A file without a row has no origin.
 */
const createStaging = ({ table, columns }: Staging, column: string, onCommit = ''): string => `
  create temporary table ${table} (${declared(columns)}${column === '' ? '' : `, ${column}`},
    id_taken integer not null default 0, is_loser integer not null default 0,
    was_listed integer not null default 0) ${onCommit};
  create temporary table staged_origin (
    file integer primary key, origin bigint, lines_before bigint, taker bigint) ${onCommit}`

/** Creates the table of values that may not be held any more. See store/merge/held.ts. */
const createLetGo = (onCommit: string): string => `
  create temporary table let_go (member text, value text) ${onCommit};
  create unique index let_go_by_value on let_go (value, member)`

/**
 * Creates the staging tables of an import; `onCommit` says what a commit does to them. A query
 * looks up the numbers that it needs: to store them in each line would write all lines again.
 * `rejected` has the faults of the records that are left out.
 */
export const createImportStaging = (staging: Staging, dialect: Dialect, onCommit = ''): string => `
  ${createStaging(staging, '', onCommit)};
  ${createLetGo(onCommit)};
  create temporary view staged as ${dialect.numbered('staged_line')};
  create temporary table rejected (file integer, line bigint, member text, code text,
    other_line bigint, holder text, holder_customer text, value text, networks text, raw text) ${onCommit}`

const declared = (columns: Staging['columns']): string =>
  Object.entries(columns)
    .map(([name, type]) => `${name} ${type}`)
    .join(', ')

export const dropImportStaging = `
  drop view staged;
  drop table staged_line;
  drop table staged_origin;
  drop table let_go;
  drop table rejected`

export const indexStaged = 'create index staged_by_id on staged_line (id)'

/**
 * The columns that make the content of a staged record. `full_body` is the unmasked record. Where
 * it is sealed, in another way each time, its digest stands for it.
 */
export const contentColumns = (resource: Resource): readonly string[] => [
  'customer_id',
  'id',
  'position',
  ...memberColumns(resource),
  isSealedKind(resource) ? 'full_checksum' : 'full_body',
  'deleted_at',
  'updated_at',
  'source_version',
]

/** A record's values by those columns. */
export const stagedValues = (record: SealedRecord, sequence = 0) => ({
  sequence,
  file: record.file ?? 0,
  line: record.line,
  raw: record.raw ?? null,
  customer_id: record.customerId,
  id: record.id,
  position: record.position,
  ...record.members,
  full_body: record.stored,
  full_checksum: record.checksum,
  version_mark: record.keyId === null ? null : randomMark(),
  masked: record.masked,
  masked_checksum: record.masked === null ? null : bodyChecksum(record.customerId, record.masked),
  deleted_at: record.deletedAt ?? null,
  keeps_deletion: record.deletedAt === undefined ? 1 : 0,
  key_id: record.keyId,
  mends: record.mends === true ? 1 : 0,
  updated_at: record.updatedAt,
  source_version: record.sourceVersion,
})

const takeRandom = openRandomPool()
const MARK_BYTES = 6
const randomMark = () => takeRandom(MARK_BYTES).readUIntBE(0, MARK_BYTES)

/** What names the version of a staged record, as `versionMark` does that of a stored one. */
export const stagedMark = (resource: Resource): string =>
  isKeyedKind(resource) ? 'version_mark' : 'full_checksum'

/** Makes a record a row of `staged_line`. */
export function stagedRows({ columns }: Staging) {
  const names = Object.keys(columns)
  return (sequence: number, record: SealedRecord): readonly StagedValue[] => {
    const values: Readonly<Record<string, StagedValue>> = stagedValues(record, sequence)
    return names.map((name) => values[name] ?? null)
  }
}

/** Whether an id is staged twice. If none is, `dropRepeats` need not run. */
export const hasRepeats = 'select count(distinct id) < count(*) as holds from staged_line'

/** Keeps the first of equal records in one file. */
export const dropRepeats = `
  delete from staged_line where exists (
    select 1 from staged_line as earlier
    where earlier.id = staged_line.id and earlier.sequence < staged_line.sequence)`

/** The stored row of a staged record. Another customer's row with this id is another record's. */
export const sameRecord = ({ listedId: { key } }: Dialect, customer = 'staged.customer'): string =>
  `stored.customer = ${customer} and ${key('stored')} = ${key('staged')}`
