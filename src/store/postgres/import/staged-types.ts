import { createStagedOrigin, lossColumns } from '../../sql/staging.ts'

const types: Readonly<Record<string, string>> = {
  sequence: 'bigint',
  file: 'integer',
  line: 'bigint',
  raw: 'text',
  id: 'uuid',
  position: 'bytea',
  full_body: 'text',
  full_checksum: 'bigint',
  masked: 'text',
  masked_checksum: 'bigint',
  deleted_at: 'bigint',
  updated_at: 'bigint',
  source_version: 'bigint',
  keeps_deletion: 'smallint',
  source_digest: 'bigint',
}

/** The type of a column of the staging table. */
export const typeOf = (column: string): string => types[column] ?? 'text collate "C"'

/** Drops the staging tables that another transaction has left to the session. */
export const dropStaging =
  'drop table if exists pg_temp.staged, pg_temp.staged_origin, pg_temp.known, pg_temp.rejected'

/** Creates the staging tables. `onCommit` says what the end of the transaction does to them. */
export const createStaging = (
  columns: readonly string[],
  onCommit: 'on commit drop' | 'on commit delete rows',
): string => `
  create temporary table staged (
    ${columns.map((name) => `${name} ${typeOf(name)}`).join(', ')}, ${lossColumns}) ${onCommit};
  ${createStagedOrigin} ${onCommit}`
