import type { Tenant } from '../../../contract/principal.ts'
import { limits } from '../../../platform/limits.ts'
import type { Issued, NewFeeQuote } from '../../fee-quotes.ts'
import type { Servers } from '../cluster/servers.ts'
import { committed } from '../cluster/transaction.ts'
import { text, whole } from '../driver/cells.ts'
import { type Connection, type Query, type Row, textArray } from '../driver/connection.ts'
import { isRefusal, unavailable } from '../driver/failure.ts'

export type Issue = (tenant: Tenant, quote: NewFeeQuote, openMax: number) => Promise<Issued>

type Asked = {
  readonly tenant: Tenant
  readonly quote: NewFeeQuote
  readonly openMax: number
  readonly answer: PromiseWithResolvers<Issued>
}

/**
 * A commit costs one round trip and the waits for the disk and the standby, however much is in it. So what is asked for in
 * one turn of the event loop goes together, and what comes while a batch is under way gathers until that is done. A
 * quote that is not stored `withinMs` after it was asked for, gathering included, rejects with a StoreUnavailable.
 */
export function openIssue(servers: Servers, withinMs: number): Issue {
  const gathered = new Set<Asked>()
  let isSending = false
  const sendAll = async () => {
    while (gathered.size > 0) {
      const batch = [...gathered].slice(0, limits.quotesPerCommitMax)
      for (const asked of batch) gathered.delete(asked)
      await settle(servers, batch)
    }
    isSending = false
  }
  return (tenant, quote, openMax) => {
    if (gathered.size >= limits.quotesWaitingMax) {
      return Promise.reject(unavailable('too many fee quotes wait for the database'))
    }
    const asked = { tenant, quote, openMax, answer: Promise.withResolvers<Issued>() }
    const giveUp = () => {
      gathered.delete(asked)
      asked.answer.reject(unavailable('a fee quote took too long to store'))
    }
    const timer = setTimeout(giveUp, withinMs)
    gathered.add(asked)
    if (!isSending) {
      isSending = true
      setImmediate(() => void sendAll())
    }
    return asked.answer.promise.finally(() => clearTimeout(timer))
  }
}

/** Sends a batch and answers everyone in it. Never rejects. */
async function settle(servers: Servers, batch: readonly Asked[]): Promise<void> {
  try {
    const rows = await servers.onPrimary((connection) => send(connection, batch))
    if (rows !== 'divide') {
      for (const row of rows) answerOne(batch[Number(whole(row, 0)) - 1], row)
      return
    }
  } catch (error) {
    for (const { answer } of batch) answer.reject(error)
    return
  }
  const half = Math.ceil(batch.length / 2)
  await settle(servers, batch.slice(0, half))
  await settle(servers, batch.slice(half))
}

/** `divide` where the database refuses the values of one of several quotes: nothing is stored then, and it is looked for. */
async function send(
  connection: Connection,
  batch: readonly Asked[],
): Promise<readonly Row[] | 'divide'> {
  try {
    return await committed(connection.query(issueQuery(batch)))
  } catch (error) {
    if (batch.length > 1 && isRefusal(error) && isOfValues(error)) return 'divide'
    throw error
  }
}

/** SQLSTATE classes (PostgreSQL, appendix A) of what is wrong with a value: data, constraints, sizes. */
const isOfValues = (error: unknown): boolean =>
  /^(22|23|54)/.test(String((error as { code?: unknown }).code))

function answerOne(asked: Asked | undefined, row: Row): void {
  const outcome = text(row, 1)
  if (outcome === 'stored') asked?.answer.resolve({ outcome })
  else if (outcome === 'too-many-open') {
    asked?.answer.resolve({ outcome, nextExpiryAt: whole(row, 2) })
  } else asked?.answer.reject(new Error('A fee quote with this id is stored already.'))
}

/** Types are told, for the planner looks at every function of that name. */
const ISSUE = `select place, outcome, next_expiry_at from bursar.issue_fee_quotes(
  $1::text[], $2::text[], $3::uuid[], $4::text[], $5::text[], $6::text[], $7::text[],
  $8::text[], $9::text[], $10::text[], $11::bigint[], $12::bigint[], $13::bigint[])`

function issueQuery(batch: readonly Asked[]): Query {
  const each = (read: (asked: Asked) => string) => textArray(batch.map(read))
  return {
    text: ISSUE,
    values: [
      each(({ tenant }) => tenant),
      each(({ quote }) => quote.clientId),
      each(({ quote }) => quote.id),
      each(({ quote }) => quote.asset),
      each(({ quote }) => quote.network),
      each(({ quote }) => quote.address),
      each(({ quote }) => quote.canonicalAddress),
      each(({ quote }) => quote.amount),
      each(({ quote }) => quote.fee),
      each(({ quote }) => quote.total),
      each(({ quote }) => String(quote.createdAt)),
      each(({ quote }) => String(quote.expiresAt)),
      each(({ openMax }) => String(openMax)),
    ],
    prepare: true,
  }
}
