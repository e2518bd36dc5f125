import { systemTime } from '@bursar/base'
import type { Dialect } from '../dialect.ts'
import type { FeeQuoteStore } from '../fee-quotes.ts'
import { recordsLimits } from '../limits.ts'
import { text, whole } from '../row.ts'
import type { QuoteSessions } from './quote-sessions.ts'

/**
 * Empties the address and the figures of a customer's quotes, those of a range of ids in each
 * transaction: no index has the quotes of a customer. It locks them in the order of their ids, as
 * consumptions do.
 */
export function openEraseQuotes({
  dialect,
  operator,
}: Pick<QuoteSessions, 'dialect' | 'operator'>): FeeQuoteStore['operator']['eraseSome'] {
  const { findEnd, countIn, eraseIn, forgetDue } = eraseStatements(dialect)
  return async (customerId, { after = FIRST, erases }) => {
    const [last] = await operator.rows({ text: findEnd, values: [after] })
    const end = last && text(last, 'id')
    const values = [customerId, after, end ?? LAST]
    const next = end
    if (!erases) {
      const [row = {}] = await operator.rows({ text: countIn, values })
      return { count: Number(whole(row, 'count')), next }
    }
    return await operator.transact(async ({ rows }) => {
      const erased = await rows({ text: eraseIn, values })
      await rows({ text: forgetDue, values: [customerId] })
      return { count: erased.length, next }
    }, systemTime.elapsedMs() + recordsLimits.storeLockWaitMs)
  }
}

const FIRST = '00000000-0000-0000-0000-000000000000'
const LAST = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

function eraseStatements({ tableName, parameter, forUpdate }: Dialect) {
  const [quotes, due] = ['fee_quote', 'fee_event_due'].map(tableName)
  const customer = parameter(1, 'text')
  const own = `from ${quotes} where customer_id = ${customer} and amount <> ''
      and id > ${parameter(2, 'uuid')} and id <= ${parameter(3, 'uuid')}`
  return {
    findEnd: `select id from ${quotes} where id > ${parameter(1, 'uuid')}
      order by id limit 1 offset ${recordsLimits.erasedEntriesTogether - 1}`,
    countIn: `select count(*) as count ${own}`,
    eraseIn: `
      with own as materialized (select id ${own} order by id ${forUpdate('wait')})
      update ${quotes} set address = '', canonical_address = '', amount = '', fee = '', total = ''
      where id in (select id from own) returning 1`,
    // Those of the last seconds, if no server has announced them yet.
    forgetDue: `delete from ${due} where id in (
      select id from ${due} where customer_id = ${customer} limit ${recordsLimits.erasedEntriesTogether})`,
  }
}
