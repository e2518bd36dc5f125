import { createStagedOrigin } from '../../sql/staging.ts'

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

/** Creates the staging tables of a session, in place of those that another import has left. */
export const createStaging = (columns: readonly string[], onCommit = ''): string => `
  drop table if exists pg_temp.staged, pg_temp.staged_origin, pg_temp.known;
  create temporary table staged (${columns.map((name) => `${name} ${typeOf(name)}`).join(', ')})
    ${onCommit};
  ${createStagedOrigin}`
