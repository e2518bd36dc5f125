import type { StatementSync } from 'node:sqlite'
import type { Tenant } from '../../../contract/principal.ts'
import { freeMemory, pageBuffers } from '../../../platform/lent-buffers.ts'
import type { KeyRange, PageRows, Selection } from '../../records/page.ts'
import { StoreCorrupted } from '../../unavailable.ts'

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

export type ReadPage = PageRows & { readonly changedAt: bigint }

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
      return { items, release, rows, last, more, changedAt: BigInt(Number(row.revision ?? 0)) }
    }
    range = selection.order === 'ASC' ? { ...range, low: last } : { ...range, high: last }
  }
}

function blob(value: unknown): Uint8Array {
  if (value instanceof Uint8Array) return value
  throw new StoreCorrupted('a blob column holds another value')
}
