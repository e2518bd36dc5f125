import { limitsOf } from '@bursar/base'
import { uuid } from '@bursar/contract'
import type { FeeQuoteStore } from '../fee-quotes.ts'
import { optionalWhole, text, whole } from '../row.ts'
import { openConsume } from './consume-quotes.ts'
import { openEraseQuotes } from './erase-quotes.ts'
import { openIssue } from './issue-quotes.ts'
import { quoteColumns, readQuote } from './quote-rows.ts'
import type { QuoteSessions } from './quote-sessions.ts'
import { resetSweep, sweepQuotes } from './quote-sweep.ts'

const limits = limitsOf({
  /** The newest quotes, of which the metrics count the open ones: some milliseconds. */
  openQuotesCountedMax: 5000,
})

/** The store of fee quotes over the sessions of an engine. */
export function openFeeQuotes(sessions: QuoteSessions): Omit<FeeQuoteStore, 'close'> {
  const { dialect, operator } = sessions
  const { now, parameter } = dialect
  const quotes = dialect.tableName('fee_quote')
  const due = dialect.tableName('fee_event_due')
  const withoutEvent = `select id, customer_id from ${due} limit ${parameter(1, 'bigint')}`
  const haveEvent = `delete from ${due} where ${dialect.isAnyOf('id', parameter(1, 'uuid[]'))}`
  const find = `select ${quoteColumns} from ${quotes} where id = ${parameter(1, 'uuid')}`
  const ofWithdrawal = `select ${quoteColumns} from ${quotes}
    where withdrawal = $1 and customer_id = coalesce(${parameter(2, 'text')}, customer_id)
      and id > ${parameter(3, 'uuid')}
    order by id limit $4`
  const uncertain = `select ${quoteColumns} from ${quotes}
    where consumed_at is null and amount <> '' and created_at < ${parameter(1, 'bigint')}
      and expires_at > ${parameter(2, 'bigint')}
    order by id limit ${parameter(3, 'bigint')}`
  // An open quote is younger than the longest life, so it is among the newest ids.
  const countOpen = `
    with newest as materialized (
      select consumed_at, expires_at from ${quotes}
      order by id desc limit ${limits.openQuotesCountedMax}
    )
    select count(*) as open from newest where consumed_at is null and expires_at > ${now}`
  return {
    customers: { issue: openIssue(sessions) },
    operator: {
      find: async (id) => {
        const reading = uuid.read(id)
        if ('reason' in reading) return undefined
        const [row] = await operator.rows({ text: find, values: [reading.value], prepare: true })
        return row && readQuote(row)
      },
      ofWithdrawal: async (withdrawal, { customerId, after, quotesMax }) => {
        const values = [withdrawal, customerId ?? null, after, quotesMax]
        const rows = await operator.rows({ text: ofWithdrawal, values, prepare: true })
        return rows.map(readQuote)
      },
      consume: openConsume(sessions),
      sweep: (rowsMax) => sweepQuotes(sessions, rowsMax),
      resetSweep: () => resetSweep(sessions),
      times: async () => {
        const text = `select ${now} as now, max(created_at) as newest_at from ${quotes}`
        const [row = {}] = await operator.rows({ text })
        return { now: whole(row, 'now'), newestQuote: optionalWhole(row, 'newest_at') }
      },
      countOpen: async () => {
        const [row = {}] = await operator.rows({ text: countOpen })
        return Number(whole(row, 'open'))
      },
      uncertain: async ({ quotesBefore, restoredTo }, rowsMax) => {
        const values = [quotesBefore, restoredTo, rowsMax]
        return (await operator.rows({ text: uncertain, values })).map(readQuote)
      },
      withoutEvent: async (quotesMax) => {
        const rows = await operator.rows({ text: withoutEvent, values: [quotesMax] })
        return rows.map((row) => ({ id: text(row, 'id'), customerId: text(row, 'customer_id') }))
      },
      haveEvent: (ids) =>
        operator.transact(async (session) => {
          await session.rows({ text: haveEvent, values: [dialect.list(ids)] })
        }),
      eraseSome: openEraseQuotes(sessions),
      clear: () =>
        operator.transact(async (session) => {
          for (const table of [quotes, due]) await session.run(`delete from ${table}`)
        }),
    },
  }
}
