import { echo, Problem } from '../contract/problem.ts'
import type { QuoteRefusal, QuoteRequest } from '../fees/quote-fee.ts'
import { commandHint } from '../platform/version.ts'
import type { BoundMember, Consumed, FeeQuote } from '../store/fee-quotes.ts'
import { printInstant } from '../values/instant.ts'

/** The problem of a refused quote, with the figures that the caller needs for the next attempt. */
export function quoteProblem(refusal: QuoteRefusal, { asset, network }: QuoteRequest): Problem {
  switch (refusal.problem) {
    case 'invalid-figure':
      return new Problem(400, `${refusal.figure} must be a string of decimal digits above 0`)
    case 'unsupported-asset-network': {
      const { offered } = refusal
      const instead = offered.length === 0 ? 'no asset' : offered.join(', ')
      return new Problem(
        400,
        `${echo(asset)} cannot be withdrawn on ${network}, which offers ${instead}`,
        { slug: 'unsupported-asset-network', meta: { offered } },
      )
    }
    case 'exceed-precision': {
      const { figure, decimals } = refusal
      return new Problem(
        400,
        `${figure} must have at most ${decimals} decimals, as ${echo(asset)} has on ${network}`,
        { slug: 'exceed-precision', meta: { figure, decimals } },
      )
    }
    case 'unsupported-address':
      return new Problem(400, `destination_address is refused: ${refusal.detail}`, {
        slug: 'unsupported-address',
        meta: { fault: refusal.fault },
      })
    case 'fee-source-unavailable':
      return new Problem(503, `no fee can be guaranteed on ${network} now, try again shortly`, {
        slug: 'fee-source-unavailable',
        headers: { 'retry-after': '30' },
        cause: new Error(`no fee on ${network}: ${refusal.cause}`),
      })
    case 'total-not-above-fee': {
      const { fee, total } = refusal
      return new Problem(
        400,
        `total must be greater than the fee, which is ${fee} ${echo(asset)}`,
        {
          meta: { fee, total },
        },
      )
    }
    case 'below-min-withdraw-limit': {
      const { minimum, amount, fee } = refusal
      return new Problem(
        400,
        `the amount must be at least ${minimum} ${echo(asset)} on ${network}; the fee is ${fee}`,
        { slug: 'below-min-withdraw-limit', meta: { minimum, amount, fee } },
      )
    }
  }
}

export function tooManyOpenQuotes(openMax: number, nextExpiryAt: bigint, now: bigint): Problem {
  const seconds = (nextExpiryAt - now + 999_999n) / 1_000_000n
  return new Problem(
    429,
    `the client holds ${openMax} guaranteed fees, which is the most; use them or let them expire`,
    {
      slug: 'too-many-open-quotes',
      meta: { open_max: openMax, next_expires_at: printInstant(nextExpiryAt) },
      headers: { 'retry-after': String(seconds > 1n ? seconds : 1n) },
    },
  )
}

type NotConsumed = Exclude<Consumed, { outcome: 'consumed' }>

/** The problem of a refused consumption, with what the fee was quoted for. */
export function consumeProblem(refused: NotConsumed, id: string): Problem {
  switch (refused.outcome) {
    case 'unknown':
      return new Problem(404, `no guaranteed fee found for id: '${echo(id)}'`)
    case 'mismatched': {
      const mismatched = refused.members.map((member) => wireNames[member])
      return new Problem(
        409,
        `the fee was quoted for another withdrawal: ${mismatched.join(', ')} differ`,
        { slug: 'fee-mismatched', meta: { mismatched, quoted: quotedFor(refused.quote) } },
      )
    }
    case 'taken': {
      const { withdrawal, at } = refused.consumption
      return new Problem(409, 'the fee was consumed by another withdrawal', {
        slug: 'fee-consumed',
        meta: { withdrawal, consumed_at: printInstant(at) },
      })
    }
    case 'expired': {
      const expiresAt = printInstant(refused.quote.expiresAt)
      return new Problem(409, `the fee was guaranteed until ${expiresAt}`, {
        slug: 'fee-expired',
        meta: { expires_at: expiresAt },
      })
    }
    case 'unreconciled':
      return new Problem(
        409,
        `a withdrawal may have consumed the fee after the backup that was restored; compare it with the system that pays, then run ${commandHint('reconcile --reconciled')}`,
        {
          slug: 'fee-not-reconciled',
          meta: { restored_at: printInstant(refused.restoredAt) },
        },
      )
    case 'not-restored':
      return new Problem(
        409,
        'consumed-at must be a time before the restore, and the fee one from before it that is not reconciled',
      )
  }
}

const wireNames: Readonly<Record<BoundMember, string>> = {
  asset: 'asset',
  network: 'crypto_network',
  address: 'destination_address',
  amount: 'amount',
}

const quotedFor = (quote: FeeQuote) => ({
  asset: quote.asset,
  crypto_network: quote.network,
  destination_address: quote.address,
  amount: quote.amount,
})
