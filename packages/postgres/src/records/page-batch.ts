import assert from 'node:assert/strict'
import { limitsOf, pageBuffers } from '@bursar/base'
import type { Resource } from '@bursar/contract'
import {
  openBatchQueue,
  type PendingRequest,
  type ReadPage,
  readLastChange,
  type Selection,
  type Statement,
  StoreDamaged,
} from '@bursar/records'
import type { Server } from '../cluster/server.ts'
import { type ReadWork, ReplicaBehind, type Servers } from '../cluster/servers.ts'
import { type Connection, lentCopy, type Row } from '../driver/connection.ts'
import { postgresLimits } from '../limits.ts'
import { type AskedPage, pageQuery, pagesQuery } from './page-query.ts'

const limits = limitsOf({
  /** The same for pages, counted in rows. Four statements keep two cores busy. */
  pageRowsPerStatementMax: 800,
  pageStatementsMax: 4,
  pagesWaitingMax: 1000,
})

export type PageOne = (asked: AskedPage) => Promise<ReadPage>

/** Reads pages of one kind in one order. Pages that wait at the same time share a statement. */
export function openPageBatch(
  servers: Servers,
  resource: Resource,
  order: Selection['order'],
): PageOne {
  const readTogether = async (
    batch: readonly PendingRequest<AskedPage, ReadPage>[],
    askedAt: number,
  ) => {
    let left = batch
    const readFrom: ReadWork<void> = async (connection, server) => {
      const asked = left.map(({ request }) => request)
      const [alone] = asked
      const query =
        asked.length === 1 && alone !== undefined
          ? pageQuery(resource, alone)
          : pagesQuery(resource, order, asked)
      const pages = await readPages(connection, query)
      left = left.filter(({ request, result }, at) => {
        const page = pages.get(at)
        if (page === undefined || isBehind(server, page, request)) return true
        result.resolve(page)
        return false
      })
      if (left.length > 0) throw new ReplicaBehind()
    }
    await servers.read(readFrom, { askedAt })
  }
  return openBatchQueue<AskedPage, ReadPage>({
    name: 'pages',
    metrics: servers.metrics,
    run: (batch, askedAt) => aloneIfDamaged(batch, (part) => readTogether(part, askedAt)),
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
  waitMs: postgresLimits.databaseWaitMs,
} as const

/** Reads one page with a separate statement. */
export function readAlone(
  servers: Servers,
  resource: Resource,
  asked: AskedPage,
): Promise<ReadPage> {
  return servers.read(async (connection, server) => {
    const page = (await readPages(connection, pageQuery(resource, asked))).get(0)
    assert(page !== undefined, 'a page query answers one row')
    if (isBehind(server, page, asked)) throw new ReplicaBehind()
    return page
  })
}

/** Each page by its index in the batch. */
async function readPages(
  connection: Connection,
  query: Statement,
): Promise<ReadonlyMap<number, ReadPage>> {
  const rows = await connection.query(query, lentCopy)
  return new Map(rows.map((row) => [Number(row[AT] ?? 1) - 1, pageOf(row)]))
}

/**
 * Whether a standby has not replayed what the page before showed. The new primary answers whatever
 * was shown before a fail-over, also if that lost changes.
 */
function isBehind(server: Server, page: ReadPage, { selection }: AskedPage): boolean {
  const isOlder = page.revision.changedAt < (selection.notBefore ?? 0n)
  if (!isOlder || !server.mayLag) return false
  page.release?.()
  return true
}

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
    revision: readLastChange(row[4]?.toString('latin1')),
    owner: row[5]?.toString('latin1'),
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
