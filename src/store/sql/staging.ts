import type { Resource } from '../../contract/resource.ts'
import type { LineFault, MergeReport, StorableRecord } from '../records.ts'
import { contentColumns } from './merge-query.ts'

/** The columns of the temporary table of staged records, besides `sequence`, which counts them. */
export const stagedColumns = (resource: Resource): readonly string[] => [
  'line',
  ...contentColumns(resource),
  'masked',
  'keeps_deletion',
]

/** A record's values by those columns. */
export const stagedValues = (record: StorableRecord) => ({
  line: record.line,
  customer_id: record.customerId,
  id: record.id,
  position: record.position,
  ...record.members,
  full_body: record.full,
  masked: record.masked,
  deleted_at: record.deletedAt ?? null,
  keeps_deletion: record.deletedAt === undefined ? 1 : 0,
  updated_at: record.updatedAt,
  source_version: record.sourceVersion,
})

/** The same record twice in one file is taken once. */
export const dropRepeats = (staged: string): string => `
  delete from ${staged} where exists (
    select 1 from ${staged} as e where e.id = staged.id and e.sequence < staged.sequence)`

export const refused = (faults: readonly LineFault[]): MergeReport => ({
  faults,
  added: 0,
  changed: 0,
  unchanged: 0,
})
