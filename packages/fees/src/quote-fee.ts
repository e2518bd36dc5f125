import {
  type CryptoNetwork,
  divideDown,
  divideUp,
  largest,
  type ParsedDecimal,
  parseDecimal,
  printDecimal,
} from '@bursar/base'
import type {
  AddressFault,
  AddressKind,
  AddressPolicy,
  AddressRefusal,
} from './addresses/address-check.ts'
import { checkDestination } from './check-destination.ts'
import type { FeeBasis, Unavailable } from './fee-basis.ts'
import { type FeeOrigin, networkFee } from './network-fee.ts'
import type { AssetPair } from './schedule/asset-pair.ts'

export type QuoteRequest = {
  readonly asset: string
  readonly network: CryptoNetwork
  readonly address: string
  /** The figure that the caller named, and its text as sent. */
  readonly figure: { readonly name: 'amount' | 'total'; readonly text: string }
}

/** A fee guaranteed for `ttlSeconds`. Figures are decimal text; amount + fee = total, exactly. */
export type QuotedFee = {
  readonly ok: true
  readonly fee: string
  /** The figure that the caller named is returned as it was sent. */
  readonly amount: string
  readonly total: string
  readonly addressKind: AddressKind
  readonly ttlSeconds: number
  readonly origin: FeeOrigin
}

/** Why there is no quote, with figures that tell the caller what to change, as decimal text. */
export type QuoteRefusal = { readonly ok: false } & (
  | {
      readonly problem: 'invalid-figure'
      readonly figure: 'amount' | 'total'
      readonly fault: 'form' | 'length' | 'zero'
    }
  | {
      readonly problem: 'unsupported-asset-network'
      readonly fault: 'unknown' | 'off'
      /** The assets that this network offers, in alphabetical order. */
      readonly offered: readonly string[]
    }
  | {
      readonly problem: 'exceed-precision'
      readonly figure: 'amount' | 'total'
      readonly decimals: number
    }
  | {
      readonly problem: 'unsupported-address'
      readonly fault: AddressFault
      /** One sentence; it never holds the address. */
      readonly detail: string
    }
  | { readonly problem: 'fee-source-unavailable'; readonly cause: Unavailable['cause'] }
  | { readonly problem: 'total-not-above-fee'; readonly fee: string; readonly total: string }
  | {
      readonly problem: 'below-min-withdraw-limit'
      readonly minimum: string
      readonly amount: string
      readonly fee: string
    }
)

/**
 * Quotes the guaranteed fee of one withdrawal (contract sections 2.11 and 4.7). Pure: `now` is the
 * time in microseconds, everything else is in `basis`. The fee is rounded up; the caller's figure
 * is never rounded.
 *
 * Checks run in this order: figure, pair, precision, address, sources, total, minimum. By the
 * sample schedule, 0.001 BTC to a P2WPKH address costs 0.00002613, so the total is 0.00102613.
 */
export function quoteFee(
  basis: FeeBasis,
  request: QuoteRequest,
  now: bigint,
  policy: AddressPolicy = {},
): QuotedFee | QuoteRefusal {
  const { network, figure } = request
  const pairs = basis.schedule.pairs.get(network)
  const pair = pairs?.get(request.asset)
  const given = parseDecimal(figure.text, pair?.decimals ?? 0)
  const figureFault = figureFaultOf(given, figure.text)
  if (figureFault !== undefined) {
    return { ok: false, problem: 'invalid-figure', figure: figure.name, fault: figureFault }
  }
  if (pair === undefined || !pair.enabled) return unsupportedPair(pair, pairs)
  if (!given.ok) {
    return { ok: false, problem: 'exceed-precision', figure: figure.name, decimals: pair.decimals }
  }
  const check = checkDestination(basis.schedule, request, policy)
  if (!check.valid) return unsupportedAddress(check)
  const flat = networkFee(basis, pair, check.kind, now)
  if (!flat.ok) return { ok: false, problem: 'fee-source-unavailable', cause: flat.cause }
  const split = splitFigure(figure.name, given.units, flat.feeUnits, pair.transferPpm)
  const print = (units: bigint): string => printDecimal(units, pair.decimals)
  const fee = print(split.feeUnits)
  if (split.amountUnits <= 0n) {
    return { ok: false, problem: 'total-not-above-fee', fee, total: figure.text }
  }
  const minimum = amountUnitsMin(basis, pair, check.kind)
  const amount = figure.name === 'amount' ? figure.text : print(split.amountUnits)
  if (split.amountUnits < minimum) {
    return { ok: false, problem: 'below-min-withdraw-limit', minimum: print(minimum), amount, fee }
  }
  return {
    ok: true,
    fee,
    amount,
    total: figure.name === 'total' ? figure.text : print(split.totalUnits),
    addressKind: check.kind,
    ttlSeconds: basis.schedule.quote.ttlSeconds,
    origin: flat.origin,
  }
}

/** The smallest amount: the pair's or, for a native coin, the network's if that is higher. */
export function amountUnitsMin(basis: FeeBasis, pair: AssetPair, address: AddressKind): bigint {
  const { nativeUnitsMin } = basis.schedule.networks[pair.network]
  const networkUnits = pair.kind === 'native' ? nativeUnitsMin(address) : 1n
  return largest(networkUnits, pair.amountUnitsMin)
}

function figureFaultOf(given: ParsedDecimal, text: string): 'form' | 'length' | 'zero' | undefined {
  if (!given.ok && given.fault !== 'precision') return given.fault
  return /[1-9]/.test(text) ? undefined : 'zero'
}

function unsupportedPair(
  pair: AssetPair | undefined,
  pairs: ReadonlyMap<string, AssetPair> | undefined,
): QuoteRefusal {
  const enabled = [...(pairs?.values() ?? [])].filter((offered) => offered.enabled)
  const offered = enabled.map(({ asset }) => asset).sort()
  const fault = pair === undefined ? 'unknown' : 'off'
  return { ok: false, problem: 'unsupported-asset-network', fault, offered }
}

const unsupportedAddress = ({ reason, detail }: AddressRefusal): QuoteRefusal => ({
  ok: false,
  problem: 'unsupported-address',
  fault: reason,
  detail,
})

const wholePpm = 1_000_000n

/**
 * Rounds the proportional part up to one unit, not to the fee's increment. Otherwise quoting by the
 * total of an earlier quote would not return its amount. With A the amount and p its proportional
 * part, the total less the flat fee is A + ceil(Ap), and floor((A + ceil(Ap)) ÷ (1 + p)) is A. If
 * the total is not above the flat fee, the amount is 0.
 */
function splitFigure(
  name: 'amount' | 'total',
  units: bigint,
  flatUnits: bigint,
  transferPpm: bigint,
) {
  if (name === 'amount') {
    const feeUnits = flatUnits + divideUp(units * transferPpm, wholePpm)
    return { feeUnits, amountUnits: units, totalUnits: units + feeUnits }
  }
  if (units <= flatUnits) return { feeUnits: flatUnits, amountUnits: 0n, totalUnits: units }
  const amountUnits = divideDown((units - flatUnits) * wholePpm, wholePpm + transferPpm)
  return { feeUnits: units - amountUnits, amountUnits, totalUnits: units }
}
