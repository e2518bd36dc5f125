import type { FeeQuote, StoreTimes } from '../../fee-quotes.ts'
import type { Recovery } from '../../recovery.ts'
import { optionalWhole, whole } from '../../row.ts'
import { quoteColumns, readQuote } from '../../sql/fee-quotes/fee-quote-rows.ts'
import type { Servers } from '../cluster/servers.ts'

/** The times of a recovery, and the quotes that a lost consumption may have taken. */
export const restoredQuotes = (servers: Servers) => ({
  times: async (): Promise<StoreTimes> => {
    const text = `select bursar.clock_microseconds() as now, max(created_at) as created_at
      from bursar.fee_quote`
    const [row = {}] = await servers.rows({ text })
    return { now: whole(row, 'now'), newestQuote: optionalWhole(row, 'created_at') }
  },
  uncertain: async (recovery: Recovery, rowsMax: number): Promise<readonly FeeQuote[]> => {
    const rows = await servers.rows({
      text: `select ${quoteColumns} from bursar.fee_quote
        where consumed_at is null and created_at < $1::bigint and expires_at > $2::bigint
        order by id limit $3::bigint`,
      values: [recovery.quotesBefore, recovery.restoredTo, rowsMax],
    })
    return rows.map(readQuote)
  },
})
