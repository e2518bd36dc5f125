import type { DatabaseSync, SQLInputValue } from 'node:sqlite'
import { StoreCorrupted } from '@bursar/records'
import { guarded, prepare } from '../database.ts'

/** Rows are looked up so many times faster than records are compared. */
const SMALL_TIMES = 8

/**
 * Looks each row of each table up again by its key and by every index of the table, a step at a
 * time. A damaged index, or a damaged inner page, hides rows without an error. Throws a
 * StoreCorrupted for the first row that is hidden.
 */
export async function* compareTables(
  db: DatabaseSync,
  rowsMax: () => number,
): AsyncIterable<undefined> {
  for (const table of guarded(() => tablesIn(db))) {
    const columns = table.key.map((_, at) => `key_${at}`)
    const [first, next] = guarded(() => [
      prepare(db, lookUps(table, true)),
      prepare(db, lookUps(table, false)),
    ])
    for (let after: SQLInputValue[] | undefined = []; after !== undefined; ) {
      const values: SQLInputValue[] = after
      const max = SMALL_TIMES * rowsMax()
      const rows = guarded(() => (values.length === 0 ? first : next).all(...values, max))
      const hidden = rows.find((row) => row.hidden_by !== null)
      if (hidden !== undefined) {
        throw new StoreCorrupted(`${hidden.hidden_by} of ${table.name} lacks a row`)
      }
      yield undefined
      const last = rows.at(-1)
      after =
        last === undefined || rows.length < max
          ? undefined
          : columns.map((column) => last[column] ?? null)
    }
  }
}

type Index = {
  readonly name: string
  /** Columns and expressions, and the condition of a partial index. */
  readonly terms: readonly string[]
  readonly where: string
}

type Table = {
  readonly name: string
  readonly key: readonly string[]
  readonly indexes: readonly Index[]
}

function tablesIn(db: DatabaseSync): readonly Table[] {
  const tables = db.prepare(`select name, wr from pragma_table_list where schema = 'main'
    and type = 'table' and name not like 'sqlite_%'`)
  const columns = db.prepare(`select name, pk from pragma_table_info(?) where pk > 0 order by pk`)
  // The key of a table without rowids is the table itself.
  const indexes = db.prepare(`
    select listed.name, schema.sql, (select group_concat(name order by seqno)
      from pragma_index_info(listed.name)) as columns
    from pragma_index_list($name) as listed join sqlite_schema as schema on schema.name = listed.name
    where $rowids or listed.origin <> 'pk'`)
  return tables.all().map(({ name, wr }) => {
    const table = String(name)
    const key = wr === 1 ? columns.all(table).map((column) => String(column.name)) : ['rowid']
    return {
      name: table,
      key,
      indexes: indexes.all({ name: table, rowids: 1 - Number(wr) }).map((index) => {
        const terms = String(index.columns).split(',')
        return index.sql === null
          ? { name: String(index.name), terms, where: 'true' }
          : indexOf(String(index.name), String(index.sql))
      }),
    }
  })
}

/** Reads what `create index` says. No expression of ours has a comma or `where` in a text. */
function indexOf(name: string, sql: string): Index {
  const listed = sql.slice(sql.indexOf('(', sql.indexOf(' on ')) + 1)
  const terms: string[] = []
  let [depth, from, at] = [1, 0, 0]
  for (; depth > 0; at += 1) {
    const letter = listed[at]
    if (letter === undefined) throw new Error(`the index ${name} has no end`)
    if (letter === '(') depth += 1
    if (letter === ')') depth -= 1
    if (depth === 0 || (depth === 1 && letter === ',')) {
      terms.push(listed.slice(from, at).trim())
      from = at + 1
    }
  }
  const [, where = 'true'] = /^\s*where\s+(.*)$/is.exec(listed.slice(at)) ?? []
  return { name, terms, where }
}

/** Selects so many of the first rows, or those after a key, and by what each is not found. */
function lookUps({ name, key, indexes }: Table, isFirst: boolean): string {
  const keys = key.map((column, at) => `${column} as key_${at}`)
  const values = indexes.flatMap(({ terms, where }, index) => [
    ...terms.map((term, at) => `${term} as value_${index}_${at}`),
    `${where} as has_${index}`,
  ])
  const isSame = key.map((column, at) => `${column} = part.key_${at}`).join(' and ')
  const hiddenBy = indexes.map(({ name: index, terms, where }, number) => {
    const same = terms.map((term, at) => `${term} is part.value_${number}_${at}`).join(' and ')
    return `when part.has_${number} and not exists (
      select 1 from ${name} indexed by ${index} where (${where}) and ${same} and ${isSame})
      then 'the index ${index}'`
  })
  const place = key.map((_, at) => `$${at + 1}`).join(', ')
  const isAfter = isFirst ? '' : `where (${key.join(', ')}) > (${place})`
  return `
    select ${key.map((_, at) => `key_${at}`).join(', ')}, case
      when not exists (select 1 from ${name} not indexed where ${isSame}) then 'the key'
      ${hiddenBy.join('\n      ')} end as hidden_by
    from (select ${[...keys, ...values].join(', ')} from ${name} ${isAfter}
      order by ${key.join(', ')} limit $${isFirst ? 1 : key.length + 1}) as part`
}
