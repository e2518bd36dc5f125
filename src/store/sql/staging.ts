import type { Resource } from '../../contract/resource.ts'
import { bodyChecksum } from '../integrity/checksum.ts'
import type { FoundFaults, MergeReport, StorableRecord } from '../records/import.ts'
import { memberColumns } from '../schema/tables.ts'

/** The columns of the temporary table `staged`, besides `sequence`, the number in the file. */
export const stagedColumns = (resource: Resource): readonly string[] => [
  'file',
  'line',
  'raw',
  ...contentColumns(resource),
  'full_checksum',
  'masked',
  'masked_checksum',
  'keeps_deletion',
  'source_digest',
]

/** The columns that make the content of a staged record. `full_body` is the unmasked record. */
export const contentColumns = (resource: Resource): readonly string[] => [
  'customer_id',
  'id',
  'position',
  ...memberColumns(resource),
  'full_body',
  'deleted_at',
  'updated_at',
  'source_version',
]

/** A record's values by those columns. */
export const stagedValues = (record: StorableRecord) => ({
  file: record.file ?? 0,
  line: record.line,
  raw: record.raw ?? null,
  customer_id: record.customerId,
  id: record.id,
  position: record.position,
  ...record.members,
  full_body: record.full,
  full_checksum: bodyChecksum(record.customerId, record.full),
  masked: record.masked,
  masked_checksum: record.masked === null ? null : bodyChecksum(record.customerId, record.masked),
  deleted_at: record.deletedAt ?? null,
  keeps_deletion: record.deletedAt === undefined ? 1 : 0,
  source_digest: record.sourceDigest ?? null,
  updated_at: record.updatedAt,
  source_version: record.sourceVersion,
})

/**
 * What no record brings: it has lost its id to another customer's record, or another record of the
 * merge takes a value from it, which withdraws it.
 */
export const lossColumns = `id_taken integer not null default 0,
    is_loser integer not null default 0`

/** Whether an id is staged twice. If none is, `dropRepeats` need not run. */
export const hasRepeats = 'select count(distinct id) < count(*) as has_repeats from staged'

/** Keeps the first of equal records in one file. */
export const dropRepeats = `
  delete from staged where exists (
    select 1 from staged as earlier
    where earlier.id = staged.id and earlier.sequence < staged.sequence)`

/**
 * Who stores the records of each file, by its number, and what withdraws the records from which
 * they take a value. A file without a row has no origin.
 */
export const createStagedOrigin = `create temporary table staged_origin (
  file integer primary key, origin bigint, lines_before bigint, taker bigint)`

/** The time of a merge: now, but later than every change before it, whatever the clock says. */
export const mergeTime = (now: bigint, lastChange: bigint): bigint =>
  now > lastChange ? now : lastChange + 1n

export const refused = (found: FoundFaults): MergeReport => ({
  ...found,
  rejected: 0,
  withdrawn: 0,
  added: 0,
  changed: 0,
  unchanged: 0,
})
