import type { SchemaDialect } from '../sql/record-schema.ts'

/** Without a rowid, SQLite stores the table itself in the order of its primary key. */
export const recordDialect: SchemaDialect = {
  tableName: (table) => table,
  types: {
    key: 'text',
    boolean: 'integer',
    position: 'blob',
    id: 'text',
    integer: 'integer',
    storedAt: 'integer not null',
  },
  tableOptions: ' strict, without rowid',
  acrossCustomers: '',
  bodyMember: (member) => `json_extract(stored.body, '$.${member}')`,
  checksumOf: (body) => `body_checksum(customer_id, ${body})`,
  protect: () => '',
  unprotected: (_tables, statement) => statement,
}
