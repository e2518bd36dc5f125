import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { freeMemory, getOrInsert, pageBuffers } from '@bursar/base'
import type { Tenant, View } from '@bursar/contract'
import {
  customerNumber,
  type KeyRange,
  lastChange,
  laterStatement,
  type ReadBody,
  type ReadPage,
  type ReadRecords,
  rangeOf,
  readLastChange,
  type Selection,
  StoreCorrupted,
} from '@bursar/records'
import { guarded } from '../database.ts'
import { dialect } from '../dialect.ts'
import { pageQuery } from './page-query.ts'
import type { ReadInTurn } from './read-in-turn.ts'

/** Reads for one tenant at a time. Every statement has the tenant as its first condition. */
export function customerRecords(
  db: DatabaseSync,
  prepare: (sql: string) => StatementSync,
  readInTurn: ReadInTurn,
): ReadRecords {
  const runInTurn = <T>(sql: string, work: () => T) =>
    readInTurn(laterStatement('sqlite', sql, () => guarded(work)))
  const read = <T>(sql: string, work: (statement: StatementSync) => T) =>
    runInTurn(sql, () => work(prepare(sql)))
  const gets = new Map<View, Get>()
  return {
    async get(tenant, view, id, includeDeleted) {
      const { sql, run } = getOrInsert(gets, view, () => openGet(db, view))
      return await runInTurn(sql, () => run(tenant, id, includeDeleted))
    },

    async page(tenant, view, selection) {
      const { sql, parameters, isRange } = pageQuery(view.resource, selection)
      const range = rangeOf(selection)
      return await read(sql, (statement) =>
        readPage(statement, { customer: tenant, range, parameters, selection, isRange }),
      )
    },

    async revision(tenant, { kind }) {
      const sql = `select ${lastChange} as last from revision where customer = ${customerNumber(dialect, '?')} and kind = ?`
      return readLastChange((await read(sql, (statement) => statement.get(tenant, kind)))?.last)
    },
  }
}

type Get = {
  readonly sql: string
  run(tenant: Tenant, id: string, includeDeleted: boolean): ReadBody
}

/** Values by position, and a row without names, take a fifth less time than with names. */
function openGet(db: DatabaseSync, { table, resource }: View): Get {
  const { is } = dialect.listedId
  const isListed = table === resource.table
  const hasId = isListed ? is(table, '?') : 'id = ?'
  const sql = `
    select body, checksum from ${table} ${isListed ? `indexed by ${table}_by_id` : ''}
    where customer = ${customerNumber(dialect, '?')} and ${hasId} and (deleted = 0 or ? = 1)`
  let statement: StatementSync | undefined
  const open = () => {
    const opened = db.prepare(sql)
    opened.setReturnArrays(true)
    return opened
  }
  return {
    sql,
    run: (tenant, id, includeDeleted) => {
      statement ??= open()
      const ids = isListed ? [id, id] : [id]
      const row = statement.get(tenant, ...ids, Number(includeDeleted))
      if (!Array.isArray(row)) return undefined
      const [body, checksum] = row
      return { body: String(body), checksum: Number(checksum) }
    },
  }
}

/**
 * Rows of a page that one statement joins. Their bytes stay in the processor's cache while they are
 * joined and copied, and the next rows use the same memory.
 */
const ROWS_TOGETHER = 200

type AskedPage = {
  readonly customer: Tenant
  readonly range: KeyRange
  readonly parameters: Readonly<Record<string, string | null>>
  readonly selection: Pick<Selection, 'limit' | 'order'>
  /** Whether the next rows are found by the position of the last one, without a search. */
  readonly isRange: boolean
}

/** Reads a page into lent memory. The caller holds a transaction, so the page is of one moment. */
export function readPage(statement: StatementSync, asked: AskedPage): ReadPage {
  const { customer, parameters, selection, isRange } = asked
  let { range } = asked
  let [body, used, rows] = [pageBuffers.lend(0), 0, 0]
  for (;;) {
    const left = selection.limit - rows
    const limit = isRange ? Math.min(left, ROWS_TOGETHER) : left
    const row = statement.get({ customer, ...range, limit, ...parameters }) ?? {}
    const found = Number(row.rows ?? 0)
    const last = row.last == null ? undefined : blob(row.last)
    const more = row.more === 1
    if (row.items != null) {
      const items = blob(row.items)
      const start = used === 0 ? 0 : used + 1
      const end = start + items.length
      if (end > body.length) {
        // As if the rest of the page had records of the same size.
        const rest = more ? ((left - found) / found) * items.length * 1.1 : 0
        body = pageBuffers.lendMore(body, used, end + Math.ceil(rest))
      }
      if (start > used) body.write(',', used, 'latin1')
      body.set(items, start)
      freeMemory(items.buffer)
      used = end
    }
    rows += found
    if (!more || rows >= selection.limit || last === undefined) {
      const items = body.subarray(0, used)
      const release = () => pageBuffers.takeBack(items)
      const revision = readLastChange(row.revision)
      const owner = typeof row.owner === 'string' ? row.owner : undefined
      return { items, release, rows, last, more, revision, owner }
    }
    range = selection.order === 'ASC' ? { ...range, low: last } : { ...range, high: last }
  }
}

function blob(value: unknown): Uint8Array {
  if (value instanceof Uint8Array) return value
  throw new StoreCorrupted('a blob column holds another value')
}
