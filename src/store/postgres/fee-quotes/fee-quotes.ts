import { uuid } from '../../../contract/fields.ts'
import { ConfigError } from '../../../platform/config.ts'
import { limits } from '../../../platform/limits.ts'
import type { FeeQuoteStore } from '../../fee-quotes.ts'
import { quoteColumns, quotesOfWithdrawal, readQuote } from '../../sql/fee-quotes/fee-quote-rows.ts'
import type { Servers } from '../cluster/servers.ts'
import { inTransaction } from '../cluster/transaction.ts'
import { openConsume } from './consume-batch.ts'
import { openIssue } from './issue-batch.ts'
import { restoredQuotes } from './restored-quotes.ts'
import { resetSweep, sweepQuotes } from './sweep.ts'

export type FeeQuoteDeps = {
  /** As role `bursar`. */
  readonly customers: Servers
  /** As role `bursar_operator`. Undefined if this process serves customers only. */
  readonly operator: Servers | undefined
  /** The time that storing or consuming a quote may take, including its wait for a batch. */
  readonly withinMs?: number
}

/** Stores fee quotes in PostgreSQL. The caller closes the servers. */
export function openPostgresFeeQuotes(deps: FeeQuoteDeps): FeeQuoteStore {
  const { customers, operator, withinMs = limits.quoteIssueMs } = deps
  return {
    customers: { issue: openIssue(customers, withinMs) },
    operator: operator === undefined ? withoutOperator : operatorMethods(operator, withinMs),
    close: async () => {},
  }
}

const refuse = async (): Promise<never> => {
  throw new ConfigError(
    'Fee quotes are consumed, shown and swept as the operator: set OPERATOR_DATABASE_URL to the URL of role bursar_operator.',
  )
}
const withoutOperator = {
  find: refuse,
  ofWithdrawal: refuse,
  consume: refuse,
  sweep: refuse,
  clear: refuse,
  times: refuse,
  resetSweep: refuse,
  uncertain: refuse,
}

function operatorMethods(servers: Servers, withinMs: number): FeeQuoteStore['operator'] {
  return {
    find: async (id) => {
      const reading = uuid.read(id)
      if ('reason' in reading) return undefined
      const [row] = await servers.rows({ text: FIND, values: [reading.value], prepare: true })
      return row && readQuote(row)
    },
    ofWithdrawal: async (withdrawal, { customerId, after, quotesMax }) => {
      const parameters = ['$1', '$2::text', '$3::uuid', '$4'] as const
      const text = quotesOfWithdrawal('bursar.fee_quote', parameters)
      const values = [withdrawal, customerId ?? null, after, quotesMax]
      const rows = await servers.rows({ text, values, prepare: true })
      return rows.map(readQuote)
    },
    consume: openConsume(servers, withinMs),
    sweep: (rowsMax) => sweepQuotes(servers, rowsMax),
    resetSweep: () => resetSweep(servers),
    ...restoredQuotes(servers),
    clear: () =>
      inTransaction(servers, (connection) => connection.execute('delete from bursar.fee_quote')),
  }
}

const FIND = `select ${quoteColumns} from bursar.fee_quote where id = $1::uuid`
