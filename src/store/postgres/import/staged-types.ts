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
