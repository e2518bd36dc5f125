import type { Dialect } from '../dialect.ts'

/** Without a rowid, SQLite stores the table itself in the order of its primary key. */
export const dialect: Dialect = {
  tableName: (table) => table,
  indexedBy: (index) => `indexed by ${index}`,
  parameter: (number) => `$${number}`,
  list: (values) => JSON.stringify(values),
  isAnyOf: (expression, list) => `${expression} in (select value from json_each(${list}))`,
  lowest: 'min(position)',
  highest: 'max(position)',
  types: {
    key: 'text',
    boolean: 'integer',
    position: 'blob',
    id: 'text',
    integer: 'integer',
    storedAt: 'integer not null',
    sequence: 'integer primary key',
  },
  tableOptions: ' strict, without rowid',
  acrossCustomers: (condition) => ` where ${condition}`,
  bodyMember: (member) => `json_extract(stored.body, '$.${member}')`,
  checksumOf: (body) => `body_checksum(customer_id, ${body})`,
  fillMasks: `update superseded set masked = mask_body(kind, body),
    masked_checksum = body_checksum(customer_id, mask_body(kind, body))`,
  anyPosition: "x'', x'ffffffffffffffffffffffffffffffffffffffffffffffffff'",
  protect: () => '',
  unprotected: (_tables, statement) => statement,
}
