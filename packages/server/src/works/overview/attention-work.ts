import {
  type Clock,
  DAY_MICROS,
  HOUR_MICROS,
  limitsOf,
  printInstant,
  systemTime,
} from '@bursar/base'
import { type OperatorWork, type RecordKind, resourceOf } from '@bursar/contract'
import type { Counted, Counting, Store } from '@bursar/records'
import { customerOf } from './list-work.ts'
import { shareSums } from './shared-sums.ts'
import { sumShortfalls } from './sum-shortfalls.ts'

const limits = limitsOf({
  /** How long an answer about what needs attention may take. */
  attentionMs: 5000,
})

type AttentionDeps = { readonly store: Pick<Store, 'operator'>; readonly clock: Clock }

type Matter = Partial<Omit<Counting, 'customerId' | 'status'>> & {
  readonly kind: RecordKind
  readonly status: string
}

/** What a person should look at, by the member of the answer. `since` is when it begins. */
const mattersAt = (now: bigint): Readonly<Record<string, Matter & { since?: bigint }>> => {
  const [yesterday, lastWeek] = [now - DAY_MICROS, now - 7n * DAY_MICROS]
  return {
    failed_quotes: {
      kind: 'issuer-quote-executions',
      status: 'FAILED',
      from: yesterday,
      since: yesterday,
    },
    pending_quotes: {
      kind: 'issuer-quote-executions',
      status: 'PENDING',
      until: now - HOUR_MICROS,
    },
    pending_accounts: { kind: 'fiat-accounts', status: 'PENDING' },
    rejected_accounts: { kind: 'fiat-accounts', status: 'REJECTED' },
    deprecated_instructions: {
      kind: 'fiat-deposit-instructions',
      status: 'DEPRECATED',
      storedSince: lastWeek,
      since: lastWeek,
    },
  }
}

/** The work of getAttention. Callers that may see the same customers share its sums. */
export function attentionWork({ store, clock }: AttentionDeps): OperatorWork {
  const sum = shareSums((customerId) => sumAttention(store, customerId, clock()))
  return async (input) => {
    const { customerId, isForeign } = customerOf(input)
    const { boundTo } = input.caller
    return { body: isForeign ? noAttention(clock()) : await sum({ boundTo, customerId }) }
  }
}

/** One matter is read after another, so no request fills a pool. */
async function sumAttention(
  store: AttentionDeps['store'],
  customerId: string | undefined,
  now: bigint,
) {
  const deadline = systemTime.elapsedMs() + limits.attentionMs
  const described: Record<string, object> = {}
  for (const [name, { kind, since, ...matter }] of Object.entries(mattersAt(now))) {
    const counting = {
      from: undefined,
      until: undefined,
      storedSince: undefined,
      ...matter,
      customerId,
    }
    const counted = await store.operator.across(resourceOf(kind)).count(counting, deadline)
    described[name] = describeCount(counted, since)
  }
  const statements = store.operator.across(resourceOf('statements'))
  const shortfalls = await sumShortfalls(statements, { customerId, now, deadline })
  return { shortfalls, ...described }
}

const noAttention = (now: bigint) => ({
  shortfalls: [],
  ...Object.fromEntries(
    Object.entries(mattersAt(now)).map(([name, { since }]) => [
      name,
      describeCount(nothing, since),
    ]),
  ),
})

const nothing: Counted = {
  count: 0,
  more: false,
  oldest: undefined,
  newest: undefined,
  customers: [],
}

const describeCount = (
  { count, more, oldest, newest, customers }: Counted,
  since: bigint | undefined,
) => ({
  count,
  more,
  ...(since !== undefined && { since: printInstant(since) }),
  ...(oldest !== undefined && { oldest: printInstant(oldest) }),
  ...(newest !== undefined && { newest: printInstant(newest) }),
  customers: customers.map((one) => ({ customer_id: one.customerId, count: one.count })),
})
