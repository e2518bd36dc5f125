import { customerNumber, type Dialect } from '@bursar/records'

/** Without a rowid, SQLite stores the table itself in the order of its primary key. */
export const dialect: Dialect = {
  tableName: (table) => table,
  auditTable: (table) => `audit_${table}`,
  auditSchema: '',
  indexedBy: (index) => `indexed by ${index}`,
  parameter: (number) => `$${number}`,
  list: (values) => JSON.stringify(values),
  isAnyOf: (expression, list) => `${expression} in (select value from json_each(${list}))`,
  entriesOf: (list) => `(select value from json_each(${list})) as entry`,
  forEach: (list, count, query) =>
    Array.from({ length: Math.max(count, 1) }, (_, at) =>
      query(`json_extract(${list}, '$[${at}]')`),
    )
      .map((one) => `select * from (${one})`)
      .join('\n        union all\n'),
  // A cross join keeps this order.
  forEachRow: (table, from, where) => `${table} cross join ${from} where ${where}`,
  boolean: (value) => (value ? '1' : '0'),
  hasTypes: (columns) =>
    Object.entries(columns)
      .map(([column, type]) => `typeof(${column}) = '${type}'`)
      .join(' and '),
  jsonMember: (column, member) => `json_extract(${column}, '$.${member}')`,
  // A damaged text has no entries, so that an import can replace it.
  jsonEntries: (expression) =>
    `json_each(case when json_valid(${expression}) then ${expression} end) as entry`,
  jsonTexts: (column, member, name) =>
    `json_each(case when json_valid(${column}) then ${column} end, '$.${member}') as ${name}`,
  longText: (expression) => `cast(${expression} as blob)`,
  hex: (expression) => `hex(${expression})`,
  bytes: (expression) => `unhex(${expression})`,
  joined: (expression, separator) => `group_concat(${expression}, '${separator}')`,
  lastPositions: `group_concat(hex(position), '')`,
  bounded: (query) => query,
  // The last 16 bytes of the position.
  listedId: {
    columns: [],
    of: idOf,
    key: keyOf,
    // A damaged entry of the index may lead to another record, so its position is compared too.
    is: (row, id) =>
      `${keyOf(row)} = unhex(${id}, '-')
        and substr(${row}.position, 10) = substr(unhex(${id}, '-'), 2)`,
    isAnyOf: (row, list) => `${keyOf(row)} in (select unhex(value, '-') from json_each(${list}))`,
  },
  rowName: 'rowid',
  pastRow: 'past.rowid',
  // The last version from before is the one that was in force then.
  joinPast: (kind, at) => `
          left join history as past on past.rowid = case when record.stored_at > ${at} then (
            select rowid from history as earlier
            where earlier.customer = record.customer and earlier.kind = '${kind}'
              and earlier.id = ${idOf('record')} and earlier.stored_at <= ${at}
            order by earlier.stored_at desc limit 1) end`,
  keys: {
    from: '(select value ->> 0 as customer_id, value ->> 1 as id from json_each($1)) as key',
    values: (keys) => [JSON.stringify(keys.map(({ customerId, id }) => [customerId, id]))],
  },
  numbered: (table) =>
    `select *, ${customerNumber(dialect, 'customer_id')} as customer from ${table}`,
  // SQLite keeps a list that it has parsed, for as long as the statement runs.
  unnest: (name, columns) => {
    const [first = '', ...others] = Object.keys(columns)
    const rest = others.map((column, at) => `, $${at + 2} ->> key as ${column}`)
    return `(select value as ${first}${rest.join('')} from json_each($1)) as ${name}`
  },
  // A transaction that writes is the only one.
  forUpdate: () => '',
  isReplica: 'false',
  now: 'clock_microseconds()',
  random: 'abs(random() % 9007199254740992)',
  isImportLockHeld: (number) => `import_lock_is_held(${number})`,
  lowest: 'min(position)',
  highest: 'max(position)',
  types: {
    key: 'text',
    boolean: 'integer',
    position: 'blob',
    id: 'text',
    integer: 'integer',
    small: 'integer',
    storedAt: 'integer not null',
    sequence: 'integer primary key',
    customerSequence: 'integer primary key autoincrement',
    customer: 'integer',
    secret: 'blob not null default (randomblob(16))',
    rowNumber: 'integer primary key',
  },
  tableOptions: ' strict, without rowid',
  rowTableOptions: ' strict',
  // An entry ends with the primary key, so a read compares the customer before it reads the row.
  // Several records that have lost one id differ by their customer.
  identifying: (table) =>
    `create unique index ${table}_by_id on ${table} (substr(position, 9), (iif(id_taken, customer, 0)));`,
  acrossCustomers: (condition) => ` where ${condition}`,
  protect: () => '',
}

/** The id of a position as its 16 bytes. */
function keyOf(row: string): string {
  return `substr(${row}.position, 9)`
}

/** The id of a position as text. */
function idOf(row: string): string {
  const digits = (start: number, count: number) =>
    `substr(hex(${row}.position), ${start}, ${count})`
  const parts = [digits(17, 8), digits(25, 4), digits(29, 4), digits(33, 4), digits(37, 12)]
  return `lower(${parts.join(` || '-' || `)})`
}
