import type { StatementSync } from 'node:sqlite'
import type { View } from '../../../contract/resource.ts'
import type { ReadRecords } from '../../integrity/intact-records.ts'
import { rangeOf } from '../../records/page.ts'
import { guarded } from '../database.ts'
import { dialect } from '../dialect.ts'
import { pageQuery } from './page-query.ts'
import type { ReadInTurn } from './read-in-turn.ts'
import { readPage } from './read-page.ts'

/** Reads for one tenant at a time. Every statement has the tenant as its first condition. */
export function customerRecords(
  prepare: (sql: string) => StatementSync,
  readInTurn: ReadInTurn,
): ReadRecords {
  const read = <T>(work: () => T) => readInTurn(() => guarded(work))
  return {
    async get(tenant, view, id, includeDeleted) {
      const row = await read(() =>
        prepare(getQuery(view)).get({
          customer: tenant,
          id,
          include_deleted: Number(includeDeleted),
        }),
      )
      return row && { body: String(row.body), checksum: Number(row.checksum) }
    },

    async page(tenant, view, selection) {
      const { sql, parameters, isRange } = pageQuery(view.resource, selection)
      const range = rangeOf(selection)
      return await read(() =>
        readPage(prepare(sql), { customer: tenant, range, parameters, selection, isRange }),
      )
    },

    async changedAt(tenant, { kind }) {
      const sql = 'select changed_at from revision where customer_id = ? and kind = ?'
      return BigInt(Number((await read(() => prepare(sql).get(tenant, kind)))?.changed_at ?? 0))
    },
  }
}

function getQuery(view: View): string {
  const { table, resource } = view
  const { is } = dialect.listedId
  const isListed = table === resource.table
  const hasId = isListed ? is(table, ':id') : 'id = :id'
  return `
    select body, checksum from ${table} ${isListed ? `indexed by ${table}_by_id` : ''}
    where customer_id = :customer and ${hasId} and (deleted = 0 or :include_deleted = 1)`
}
