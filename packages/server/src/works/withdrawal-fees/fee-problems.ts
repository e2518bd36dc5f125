import { commandHint, printInstant } from '@bursar/base'
import { echo, noneFound, type Problem, problem } from '@bursar/contract'
import type { QuoteRefusal, QuoteRequest } from '@bursar/fees'
import type { BoundMember, Consumed, FeeQuote } from '@bursar/records'

/** The problem of a refused quote, with the figures that the caller needs for the next attempt. */
export function quoteProblem(refusal: QuoteRefusal, { asset, network }: QuoteRequest): Problem {
  switch (refusal.problem) {
    case 'invalid-figure':
      return problem('malformed', `${refusal.figure} must be a string of decimal digits above 0`)
    case 'unsupported-asset-network': {
      const { offered } = refusal
      const instead = offered.length === 0 ? 'no asset' : offered.join(', ')
      return problem(
        'unsupported-asset-network',
        `${echo(asset)} cannot be withdrawn on ${network}, which offers ${instead}`,
        { meta: { offered } },
      )
    }
    case 'exceed-precision': {
      const { figure, decimals } = refusal
      return problem(
        'exceed-precision',
        `${figure} must have at most ${decimals} decimals, as ${echo(asset)} has on ${network}`,
        { meta: { figure, decimals } },
      )
    }
    case 'unsupported-address':
      return problem('unsupported-address', `destination_address is refused: ${refusal.detail}`, {
        meta: { fault: refusal.fault },
      })
    case 'fee-source-unavailable':
      return problem(
        'fee-source-unavailable',
        `no fee can be guaranteed on ${network} now, try again shortly`,
        {
          retryAfter: 30,
          cause: new Error(`no fee on ${network}: ${refusal.cause}`),
        },
      )
    case 'total-not-above-fee': {
      const { fee, total } = refusal
      return problem(
        'malformed',
        `total must be greater than the fee, which is ${fee} ${echo(asset)}`,
        {
          meta: { fee, total },
        },
      )
    }
    case 'below-min-withdraw-limit': {
      const { minimum, amount, fee } = refusal
      return problem(
        'below-min-withdraw-limit',
        `the amount must be at least ${minimum} ${echo(asset)} on ${network}; the fee is ${fee}`,
        { meta: { minimum, amount, fee } },
      )
    }
  }
}

export function tooManyOpenQuotes(openMax: number, nextExpiryAt: bigint, now: bigint): Problem {
  const seconds = (nextExpiryAt - now + 999_999n) / 1_000_000n
  return problem(
    'too-many-open-quotes',
    `the client holds ${openMax} guaranteed fees, which is the most; use them or let them expire`,
    {
      meta: { open_max: openMax, next_expires_at: printInstant(nextExpiryAt) },
      retryAfter: seconds > 1n ? seconds : 1n,
    },
  )
}

type NotConsumed = Exclude<Consumed, { outcome: 'consumed' }>

/** The problem of a refused consumption, with what the fee was quoted for. */
export function consumeProblem(refused: NotConsumed, id: string): Problem {
  switch (refused.outcome) {
    case 'unknown':
      return noneFound('guaranteed fee', id)
    case 'erased':
      return problem('conflict', 'the customer of the fee was erased, so no withdrawal can have it')
    case 'mismatched': {
      const mismatched = refused.members.map((member) => wireNames[member])
      return problem(
        'fee-mismatched',
        `the fee was quoted for another withdrawal: ${mismatched.join(', ')} differ`,
        { meta: { mismatched, quoted: quotedFor(refused.quote) } },
      )
    }
    case 'taken': {
      const { withdrawal, at } = refused.consumption
      return problem('fee-consumed', 'the fee was consumed by another withdrawal', {
        meta: { withdrawal, consumed_at: printInstant(at) },
      })
    }
    case 'expired': {
      const expiresAt = printInstant(refused.quote.expiresAt)
      return problem('fee-expired', `the fee was guaranteed until ${expiresAt}`, {
        meta: { expires_at: expiresAt },
      })
    }
    case 'unreconciled':
      return problem(
        'fee-not-reconciled',
        `a withdrawal may have consumed the fee after the backup that was restored; compare it with the system that pays, then run ${commandHint('reconcile --reconciled')}`,
        {
          meta: { restored_at: printInstant(refused.restoredAt) },
        },
      )
    case 'not-restored':
      return problem(
        'conflict',
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
