import type { Resource } from '../../contract/resource.ts'
import { largest } from '../../money/bounds.ts'
import { limits } from '../../platform/limits.ts'
import type { Page, Selection } from '../store.ts'
import { optionalBytes, optionalWhole, text, whole } from './cells.ts'
import type { Query, Row } from './connection.ts'
import { type Gathered, openGather } from './gather.ts'
import { type AskedPage, pageQuery, pagesQuery } from './page-query.ts'
import type { Servers } from './servers.ts'

type Use<T> = (page: Page) => T

export type PageOne = <T>(asked: AskedPage, use: Use<T>) => Promise<T>

/** Pages of one kind of record in one order, several in one statement. */
export function openPageBatch(
  servers: Servers,
  resource: Resource,
  order: Selection['order'],
): PageOne {
  type Asked = AskedPage & { readonly use: Use<unknown> }
  const readTogether = async (batch: readonly Gathered<Asked, unknown>[], askedAt: number) => {
    const pages = batch.map(({ asked }) => asked)
    const [alone] = pages
    const query =
      pages.length === 1 && alone !== undefined
        ? pageQuery(resource, alone)
        : pagesQuery(resource, order, pages)
    const notBefore = newest(batch)
    await readPages(servers, query, { askedAt, notBefore }, (page, at) => {
      const { asked, answer } = batch[at] as Gathered<Asked, unknown>
      try {
        answer.resolve(asked.use(sinceAsked(page, asked)))
      } catch (error) {
        answer.reject(error)
      }
    })
  }
  const ask = openGather<Asked, unknown>({
    run: async (batch, askedAt) => {
      // Where no server has come as far as one of the walks, the others need not wait for it to be found.
      if (servers.hasReader(newest(batch))) return await readTogether(batch, askedAt)
      const alone = batch.map((one) => readTogether([one], askedAt).catch(one.answer.reject))
      await Promise.all(alone)
    },
    rowsOf: ({ selection }) => selection.limit,
    rowsMax: limits.pageRowsPerStatementMax,
    statementsMax: limits.pageStatementsMax,
    waitingMax: limits.pagesWaitingMax,
  })
  return <T>(asked: AskedPage, use: Use<T>) => ask({ ...asked, use }) as Promise<T>
}

/** A page that shares its statement with no other. */
export async function readAlone<T>(
  servers: Servers,
  resource: Resource,
  asked: AskedPage,
  use: Use<T>,
): Promise<T> {
  const { notBefore } = asked.selection
  const query = pageQuery(resource, asked)
  const [made] = await readPages(servers, query, { notBefore }, (page) =>
    use(sinceAsked(page, asked)),
  )
  return made as T
}

type ReadPage = Page & { readonly logPosition: bigint }

async function readPages<T>(
  servers: Servers,
  query: Query,
  options: Parameters<Servers['read']>[1],
  use: (page: ReadPage, at: number) => T,
): Promise<readonly T[]> {
  return await servers.read(
    (connection, server) =>
      connection.read(query, (rows) =>
        rows.map((row) => {
          const page = pageOf(row)
          server.reached(page.logPosition)
          return use(page, Number(row[AT] ?? 1) - 1)
        }),
      ),
    options,
  )
}

/** A walk never forgets how far it has seen, also where a promotion has cut the log short. */
const sinceAsked = (page: ReadPage, { selection }: AskedPage): Page => ({
  ...page,
  logPosition: largest(page.logPosition, selection.notBefore ?? 0n),
})

const newest = (batch: readonly { readonly asked: AskedPage }[]): bigint =>
  largest(0n, ...batch.map(({ asked }) => asked.selection.notBefore ?? 0n))

const NO_ITEMS = new Uint8Array(0)

/** The column that tells which page of a batch a row is. */
const AT = 6

function pageOf(row: Row): ReadPage {
  return {
    items: row[0] ?? NO_ITEMS,
    rows: Number(whole(row, 1)),
    last: optionalBytes(row, 2),
    more: text(row, 3) === 'true',
    revision: Number(optionalWhole(row, 4) ?? 0n),
    logPosition: whole(row, 5),
  }
}
