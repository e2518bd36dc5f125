import assert from 'node:assert/strict'
import { getOrInsert, limitsOf } from '@bursar/base'
import {
  type AskedPastPage,
  customerNumber,
  isTrue,
  type NamedRow,
  openBatchQueue,
  type PendingRequest,
  pastRange,
  pastRowReader,
  type ReadPastRow,
  rangeOf,
  type Statement,
  whole,
} from '@bursar/records'
import type { Servers } from '../cluster/servers.ts'
import { dialect } from '../dialect.ts'
import { hexOf, textArray } from '../driver/connection.ts'
import { rowsOf } from '../session.ts'
import { aloneIfDamaged, pageBounds } from './page-batch.ts'

const limits = limitsOf({
  /**
   * Records that a past page of a shared statement visits, for each record of the page: those that
   * came later and those that were deleted are in the way. One that needs more is read by itself.
   */
  pastVisitsPerRecord: 4,
})

/**
 * Reads past pages over the operator's sessions, whose policies show every customer. Pages without
 * filters that wait at the same time share a statement if their statements would have one text.
 */
export function openPastBatches(servers: Servers): ReadPastRow {
  const readAlone = pastRowReader(rowsOf(servers), dialect)
  const batches = new Map<string, ReadPastRow>()
  return async (asked) => {
    const { resource, view, selection } = asked
    if (selection.anyOf.length > 0) return await readAlone(asked)
    const text = [resource.kind, view, selection.order, selection.includeDeleted].join()
    const read = getOrInsert(batches, text, () => openPastBatch(servers))
    const row = await read(asked)
    return isTrue(row.is_cut) ? await readAlone(asked) : row
  }
}

type PendingPage = PendingRequest<AskedPastPage, NamedRow>

function openPastBatch(servers: Servers): ReadPastRow {
  const readTogether = async (batch: readonly PendingPage[], askedAt: number) => {
    const query = pastPagesQuery(batch.map(({ request }) => request))
    const rows = await servers.read((connection) => rowsOf(connection).rows(query), { askedAt })
    for (const row of rows) batch[Number(whole(row, 'at')) - 1]?.result.resolve(row)
  }
  return openBatchQueue<AskedPastPage, NamedRow>({
    name: 'past pages',
    metrics: servers.metrics,
    run: (batch, askedAt) => aloneIfDamaged(batch, (part) => readTogether(part, askedAt)),
    ...pageBounds,
  })
}

/**
 * Reads several pages of one kind, view and order. Adds the number of the page in the batch, from
 * 1, to the columns of `pastPageQuery`. A page that many records lie in the way of is cut, so that
 * it does not hold up the others.
 */
export function pastPagesQuery(asked: readonly AskedPastPage[]): Statement {
  const [first] = asked
  assert(first !== undefined, 'a batch has a page')
  const { resource, view, selection } = first
  const page = {
    resource,
    view,
    dialect,
    order: selection.order,
    includeDeleted: selection.includeDeleted,
    customer: 'customer.number',
    at: 'request.as_of',
    low: 'request.low',
    high: 'request.high',
    size: 'request.page_size + 1',
  }
  const ranges = asked.map((one) => rangeOf(one.selection))
  return {
    text: `
      select request.at, page.*
      from unnest($1::text[], $2::bigint[], $3::bytea[], $4::bytea[], $5::int[])
        with ordinality as request (customer_id, as_of, low, high, page_size, at)
      cross join lateral (
        select ${customerNumber(dialect, 'request.customer_id')} as number offset 0
      ) as customer
      cross join lateral (${pastRange(page, VISITS_MAX)}) as page`,
    values: [
      textArray(asked.map(({ tenant }) => tenant)),
      textArray(asked.map((one) => String(one.selection.asOf))),
      textArray(ranges.map(({ low }) => hexOf(low))),
      textArray(ranges.map(({ high }) => hexOf(high))),
      textArray(asked.map((one) => String(one.selection.limit))),
    ],
    prepare: true,
    longText: 'items',
  }
}

const VISITS_MAX = `${limits.pastVisitsPerRecord} * (request.page_size + 1)`
