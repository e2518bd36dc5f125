import type { MergeDialect } from '../../sql/merge-statements.ts'

export const dialect: MergeDialect = {
  tableName: (table) => `bursar.${table}`,
  indexedBy: () => '',
  parameter: (number, type) => `$${number}::${type}`,
  now: '$1::bigint',
  // PostgreSQL 15 has no minimum of bytea.
  lowest: `decode(min(encode(position, 'hex') collate "C"), 'hex')`,
  highest: `decode(max(encode(position, 'hex') collate "C"), 'hex')`,
}
