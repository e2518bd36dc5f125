import assert from 'node:assert/strict'
import { uuid } from '../../../contract/fields.ts'
import { ConfigError } from '../../../platform/config.ts'
import { limits } from '../../../platform/limits.ts'
import type { Consumed, ConsumeRequest, Consumption, FeeQuoteStore } from '../../fee-quotes.ts'
import { quoteColumns, readQuote } from '../../sql/fee-quote-rows.ts'
import { judgeInRecovery } from '../../sql/recovery/judge-recovery.ts'
import type { Servers } from '../cluster/servers.ts'
import { inTransaction } from '../cluster/transaction.ts'
import { findRecovery } from '../credentials/recovery.ts'
import type { Connection, Query } from '../driver/connection.ts'
import { openIssue } from './issue-batch.ts'
import { restoredQuotes } from './restored-quotes.ts'

export type FeeQuoteDeps = {
  /** As role `bursar`. */
  readonly customers: Servers
  /** As role `bursar_operator`. Undefined if this process serves customers only. */
  readonly operator: Servers | undefined
  /** The time that storing a quote may take, including its wait for a batch. */
  readonly withinMs?: number
}

/** Stores fee quotes in PostgreSQL. The caller closes the servers. */
export function openPostgresFeeQuotes(deps: FeeQuoteDeps): FeeQuoteStore {
  const { customers, operator, withinMs = limits.quoteIssueMs } = deps
  return {
    customers: { issue: openIssue(customers, withinMs) },
    operator: operator === undefined ? withoutOperator : operatorMethods(operator),
    close: async () => {},
  }
}

const refuse = async (): Promise<never> => {
  throw new ConfigError(
    'Fee quotes are consumed, shown and swept as the operator: set OPERATOR_DATABASE_URL to the URL of role bursar_operator.',
  )
}
const withoutOperator = {
  ...{ find: refuse, consume: refuse, sweep: refuse, clear: refuse },
  ...{ newestCreation: refuse, uncertain: refuse },
}

function operatorMethods(servers: Servers): FeeQuoteStore['operator'] {
  return {
    find: async (id) => {
      const query = findQuery(id, '')
      const [row] = query === undefined ? [] : await servers.rows(query)
      return row && readQuote(row)
    },
    consume: (request) => consume(servers, request),
    sweep: async (createdBefore, rowsMax) => {
      const values = [createdBefore, rowsMax]
      return (await servers.rows({ text: SWEEP, values, prepare: true })).length
    },
    ...restoredQuotes(servers),
    clear: () =>
      inTransaction(servers, (connection) => connection.execute('delete from bursar.fee_quote')),
  }
}

/** Looks at the oldest ids only, as many as it may delete, and waits for no other transaction. */
const SWEEP = `
  with oldest as materialized (select id from bursar.fee_quote order by id limit $2::bigint),
  due as materialized (
    select quote.id from bursar.fee_quote as quote join oldest on oldest.id = quote.id
    where quote.created_at < $1::bigint for update of quote skip locked
  )
  delete from bursar.fee_quote where id in (select id from due) returning 1`

/** Undefined for an id that is not a UUID, which no quote can have. */
function findQuery(id: string, locking: '' | 'for update'): Query | undefined {
  const reading = uuid.read(id)
  if ('reason' in reading) return undefined
  return {
    text: `select ${quoteColumns} from bursar.fee_quote where id = $1::uuid ${locking}`,
    values: [reading.value],
    prepare: true,
  }
}

/** Locks the quote's row until the commit, so that only one withdrawal can find it free. */
async function consume(servers: Servers, request: ConsumeRequest): Promise<Consumed> {
  const query = findQuery(request.id, 'for update')
  if (query === undefined) return { outcome: 'unknown' }
  return await inTransaction(servers, async (connection) => {
    const [row] = await connection.rows(query)
    const quote = row && readQuote(row)
    const judgement = judgeInRecovery(quote, request, await findRecovery(connection))
    if (quote === undefined) return { outcome: 'unknown' }
    if (judgement.outcome === 'consumed' && quote.consumption !== undefined) {
      // The standby may not have confirmed the first commit, so this writes the same values.
      await updateConsumption(connection, quote.id, quote.consumption)
    }
    if (judgement.outcome !== 'free') return judgement
    const { withdrawal, consumedAt: at = request.at } = request
    const consumption = { withdrawal, at }
    await updateConsumption(connection, quote.id, consumption)
    return { outcome: 'consumed', quote: { ...quote, consumption }, again: false }
  })
}

async function updateConsumption(
  connection: Connection,
  id: string,
  { withdrawal, at }: Consumption,
): Promise<void> {
  const updated = await connection.rows({
    text: `update bursar.fee_quote set withdrawal = $2, consumed_at = $3::bigint
      where id = $1::uuid and (consumed_at is null or withdrawal = $2) returning 1`,
    values: [id, withdrawal, at],
    prepare: true,
  })
  assert(updated.length === 1, 'Another transaction has consumed a quote that this one had locked.')
}
