import type { MergeDialect } from '../../sql/merge-statements.ts'

export const dialect: MergeDialect = {
  tableName: (table) => table,
  indexedBy: (index) => `indexed by ${index}`,
  parameter: (number) => `?${number}`,
  now: ':now',
  lowest: 'min(position)',
  highest: 'max(position)',
}
