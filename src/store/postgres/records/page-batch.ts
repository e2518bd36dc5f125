import assert from 'node:assert/strict'
import type { Resource } from '../../../contract/resource.ts'
import { pageBuffers } from '../../../platform/lent-buffers.ts'
import { limits } from '../../../platform/limits.ts'
import { largest } from '../../../values/bounds.ts'
import { openBatchQueue, type PendingRequest } from '../../batch-queue.ts'
import type { UncheckedPage } from '../../integrity/intact-records.ts'
import type { Selection } from '../../records/page.ts'
import type { Statement } from '../../session.ts'
import { StoreDamaged } from '../../unavailable.ts'
import type { Servers } from '../cluster/servers.ts'
import { lentCopy, type Row } from '../driver/connection.ts'
import { type AskedPage, pageQuery, pagesQuery } from './page-query.ts'

export type PageOne = (asked: AskedPage) => Promise<UncheckedPage>

/** Reads pages of one kind in one order. Pages that wait at the same time share a statement. */
export function openPageBatch(
  servers: Servers,
  resource: Resource,
  order: Selection['order'],
): PageOne {
  const readTogether = async (
    batch: readonly PendingRequest<AskedPage, UncheckedPage>[],
    askedAt: number,
  ) => {
    const pages = batch.map(({ request }) => request)
    const [alone] = pages
    const query =
      pages.length === 1 && alone !== undefined
        ? pageQuery(resource, alone)
        : pagesQuery(resource, order, pages)
    const options = { askedAt, notBefore: newest(batch) }
    for (const [at, page] of await readPages(servers, query, options)) {
      const pending = batch[at]
      pending?.result.resolve(sinceAsked(page, pending.request))
    }
  }
  return openBatchQueue<AskedPage, UncheckedPage>({
    name: 'pages',
    metrics: servers.metrics,
    run: async (batch, askedAt) => {
      // Where no server has replayed the position of the newest cursor, only that page must wait.
      if (servers.hasReader(newest(batch))) {
        return await aloneIfDamaged(batch, (part) => readTogether(part, askedAt))
      }
      const alone = batch.map((one) => readTogether([one], askedAt).catch(one.result.reject))
      await Promise.all(alone)
    },
    ...pageBounds,
  })
}

/** What bounds a batch of pages. Their weight is the number of their rows. */
export const pageBounds = {
  weightOf: ({ selection }: Pick<AskedPage, 'selection'>) => selection.limit,
  weightMax: limits.pageRowsPerStatementMax,
  runningMax: limits.pageStatementsMax,
  startsFullBatches: true,
  waitingMax: limits.pagesWaitingMax,
  waitMs: limits.databaseWaitMs,
} as const

/** Reads one page with a separate statement. */
export async function readAlone(
  servers: Servers,
  resource: Resource,
  asked: AskedPage,
): Promise<UncheckedPage> {
  const { notBefore } = asked.selection
  const query = pageQuery(resource, asked)
  const [read] = await readPages(servers, query, { notBefore })
  assert(read !== undefined, 'a page query answers one row')
  return sinceAsked(read[1], asked)
}

type ReadPage = UncheckedPage & { readonly logPosition: bigint }

/** Each page and its index in the batch. */
function readPages(
  servers: Servers,
  query: Statement,
  options: Parameters<Servers['read']>[1],
): Promise<readonly (readonly [number, ReadPage])[]> {
  return servers.read(async (connection, server) => {
    const rows = await connection.query(query, lentCopy)
    return rows.map((row) => {
      const page = pageOf(row)
      server.reached(page.logPosition)
      return [Number(row[AT] ?? 1) - 1, page] as const
    })
  }, options)
}

/** The log position never goes back between pages, even when a promotion has cut the log short. */
const sinceAsked = (page: ReadPage, { selection }: AskedPage): ReadPage => ({
  ...page,
  logPosition: largest(page.logPosition, selection.notBefore ?? 0n),
})

const newest = (batch: readonly { readonly request: AskedPage }[]): bigint =>
  largest(0n, ...batch.map(({ request }) => request.selection.notBefore ?? 0n))

/** The column with the number of the page in its batch. */
const AT = 6

function pageOf(row: Row): ReadPage {
  const [items] = row
  return {
    items: items ?? new Uint8Array(0),
    release: () => items && pageBuffers.takeBack(items),
    rows: Number(textAt(row, 1)),
    last: row[2] == null ? undefined : Buffer.from(textAt(row, 2).slice(2), 'hex'),
    more: textAt(row, 3) === 'true',
    changedAt: row[4] == null ? 0n : BigInt(textAt(row, 4)),
    logPosition: BigInt(textAt(row, 5)),
  }
}

function textAt(row: Row, column: number): string {
  const cell = row[column]
  assert(cell != null, `Column ${column} of a row is null.`)
  return cell.toString('utf8')
}

/**
 * Runs a batch. PostgreSQL does not tell which row of a statement it could not read, so a damaged
 * batch runs again, each request alone: only requests for damaged records may fail. One after the
 * other, because they must not take the sessions of everybody else.
 */
export async function aloneIfDamaged<Request, Result>(
  batch: readonly PendingRequest<Request, Result>[],
  run: (batch: readonly PendingRequest<Request, Result>[]) => Promise<void>,
): Promise<void> {
  try {
    await run(batch)
  } catch (error) {
    if (!(error instanceof StoreDamaged) || batch.length === 1) throw error
    for (const one of batch) await run([one]).catch(one.result.reject)
  }
}
