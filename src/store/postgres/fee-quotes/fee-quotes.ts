import assert from 'node:assert/strict'
import { uuid } from '../../../contract/fields.ts'
import { ConfigError } from '../../../platform/config.ts'
import { limits } from '../../../platform/limits.ts'
import { isCryptoNetwork } from '../../../values/network.ts'
import type { Consumed, ConsumeRequest, FeeQuote, FeeQuoteStore } from '../../fee-quotes.ts'
import { judgeConsumption } from '../../sql/judge-consumption.ts'
import type { Servers } from '../cluster/servers.ts'
import { inTransaction } from '../cluster/transaction.ts'
import { optionalText, text, whole } from '../driver/cells.ts'
import type { Connection, Query, Row } from '../driver/connection.ts'
import { openIssue } from './quote-batch.ts'

export type FeeQuoteServers = {
  /** As role `bursar`. */
  readonly customers: Servers
  /** As role `bursar_operator`; undefined where a process only serves customers, and then that door rejects. */
  readonly operator: Servers | undefined
  /** How long a quote may take to be stored, in all. */
  readonly withinMs?: number
}

/** The guaranteed fees on PostgreSQL. The servers are closed by whoever opened them. */
export function openPostgresFeeQuotes(servers: FeeQuoteServers): FeeQuoteStore {
  const { customers, operator, withinMs = limits.quoteIssueMs } = servers
  return {
    customers: { issue: openIssue(customers, withinMs) },
    operator: operator === undefined ? closedDoor : operatorDoor(operator),
    close: async () => {},
  }
}

type OperatorDoor = FeeQuoteStore['operator']

const refuse = async (): Promise<never> => {
  throw new ConfigError(
    'Fee quotes are consumed, shown and swept as the operator: set OPERATOR_DATABASE_URL to the URL of role bursar_operator.',
  )
}
const closedDoor: OperatorDoor = { find: refuse, consume: refuse, sweep: refuse, clear: refuse }

function operatorDoor(servers: Servers): OperatorDoor {
  return {
    find: async (id) => {
      const query = findQuery(id, '')
      return query && readQuote(await servers.query(query))
    },
    consume: (request) => consume(servers, request),
    sweep: async (madeBefore, rowsMax) => {
      const deleted = await servers.query({
        text: SWEEP,
        values: [madeBefore, rowsMax],
        prepare: true,
      })
      return deleted.length
    },
    clear: () =>
      inTransaction(servers, (connection) =>
        connection.execute('delete from bursar.fee_quote; delete from bursar.fee_client'),
      ),
  }
}

/**
 * The oldest ids, and no further than the batch: nothing is searched. What another transaction holds is left to the next
 * sweep, so that nobody waits for anybody.
 */
const SWEEP = `
  with oldest as materialized (select id from bursar.fee_quote order by id limit $2::bigint),
  due as materialized (
    select quote.id from bursar.fee_quote as quote join oldest on oldest.id = quote.id
    where quote.created_at < $1::bigint for update of quote skip locked
  )
  delete from bursar.fee_quote where id in (select id from due) returning 1`

/** Undefined for what is no UUID, and so nobody's. */
function findQuery(id: string, locking: '' | 'for update'): Query | undefined {
  const reading = uuid.read(id)
  if ('reason' in reading) return undefined
  return {
    text: `
      select id, customer_id, client_id, asset, network, address, canonical_address, amount, fee, total,
        created_at, expires_at, withdrawal, consumed_at
      from bursar.fee_quote where id = $1::uuid ${locking}`,
    values: [reading.value],
    prepare: true,
  }
}

/** The quote's row is held from reading to committing, so of any number of withdrawals one finds it free. */
async function consume(servers: Servers, request: ConsumeRequest): Promise<Consumed> {
  const query = findQuery(request.id, 'for update')
  if (query === undefined) return { outcome: 'unknown' }
  return await inTransaction(servers, async (connection) => {
    const quote = readQuote(await connection.query(query))
    const judgement = judgeConsumption(quote, request)
    if (quote === undefined) return { outcome: 'unknown' }
    if (judgement.outcome === 'consumed' && quote.consumption !== undefined) {
      // Written once more as it is: so this commit too waits for the standby, which may not have heard of the first.
      await take(connection, quote.id, quote.consumption)
    }
    if (judgement.outcome !== 'free') return judgement
    const { withdrawal, at } = request
    const consumption = { withdrawal, at }
    await take(connection, quote.id, consumption)
    await countOff(connection, quote)
    return { outcome: 'consumed', quote: { ...quote, consumption }, again: false }
  })
}

async function take(
  connection: Connection,
  id: string,
  { withdrawal, at }: { readonly withdrawal: string; readonly at: bigint },
): Promise<void> {
  const taken = await connection.query({
    text: `update bursar.fee_quote set withdrawal = $2, consumed_at = $3::bigint
      where id = $1::uuid and (consumed_at is null or withdrawal = $2) returning 1`,
    values: [id, withdrawal, at],
    prepare: true,
  })
  assert(taken.length === 1, 'a quote that this transaction holds has been taken by another')
}

/** It is open no more. What has expired was counted off with its time (migrations/0003-fee-quotes.sql). */
async function countOff(connection: Connection, quote: FeeQuote): Promise<void> {
  await connection.query({
    text: `update bursar.fee_client set open = open - 1
      where customer_id = $1 and client_id = $2 and counted_to < $3::bigint`,
    values: [quote.customerId, quote.clientId, quote.expiresAt],
    prepare: true,
  })
}

function readQuote([row]: readonly Row[]): FeeQuote | undefined {
  if (row === undefined) return undefined
  const network = text(row, 4)
  assert(isCryptoNetwork(network), 'a stored quote is on a network that this version does not know')
  const withdrawal = optionalText(row, 12)
  return {
    id: text(row, 0),
    customerId: text(row, 1),
    clientId: text(row, 2),
    asset: text(row, 3),
    network,
    address: text(row, 5),
    canonicalAddress: text(row, 6),
    amount: text(row, 7),
    fee: text(row, 8),
    total: text(row, 9),
    createdAt: whole(row, 10),
    expiresAt: whole(row, 11),
    consumption: withdrawal === undefined ? undefined : { withdrawal, at: whole(row, 13) },
  }
}
