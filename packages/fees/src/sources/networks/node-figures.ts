import { divideUp } from '@bursar/base'
import type { ExactJson } from '../nodes/exact-json.ts'

/** Figures beyond these limits are invalid. The limits bound the work that one answer can cause. */
const exponentMax = 120
const digitsMax = 80

/**
 * Converts decimal text to units of 10^-decimals, rounded up. Nodes print rates as `0.00024545` and
 * as `1e-05`. Throws if the text is no such number or is negative. `1e-5` with 8 decimals is
 * `1000n`.
 */
export function decimalUnits(value: ExactJson | undefined, decimals: number): bigint {
  const match =
    typeof value === 'string' && value.length <= digitsMax
      ? /^(\d+)(?:\.(\d*))?(?:[eE]([+-]?\d{1,3}))?$/.exec(value)
      : null
  if (match === null) throw new Error('sent a figure that is not a decimal number')
  const [, whole = '', fraction = '', exponentText = '0'] = match
  const exponent = Number(exponentText) - fraction.length + decimals
  if (Math.abs(exponent) > exponentMax) throw new Error('sent a figure out of range')
  const digits = BigInt(whole + fraction)
  return exponent >= 0
    ? digits * 10n ** BigInt(exponent)
    : divideUp(digits, 10n ** BigInt(-exponent))
}

/** Reads an Ethereum quantity: `0x` and up to 64 hexadecimal digits. Throws otherwise. */
export function hexUnits(value: ExactJson | undefined): bigint {
  if (typeof value !== 'string' || !/^0x[0-9a-fA-F]{1,64}$/.test(value)) {
    throw new Error('sent a figure that is not a hexadecimal quantity')
  }
  return BigInt(value)
}

/** The first 32-byte words of an eth_call's result. Throws if there are fewer than `count`. */
export function returnedWords(value: ExactJson | undefined, count: number): bigint[] {
  const words = typeof value === 'string' ? (value.slice(2).match(/[0-9a-fA-F]{64}/g) ?? []) : []
  if (words.length < count) throw new Error('sent a contract result that is too short')
  return words.slice(0, count).map((word) => BigInt(`0x${word}`))
}

/** Reads a JSON integer, or a string of digits. Throws otherwise. */
export function wholeUnits(value: ExactJson | undefined): bigint {
  if (typeof value !== 'string' || !/^\d{1,40}$/.test(value)) {
    throw new Error('sent a figure that is not a whole number')
  }
  return BigInt(value)
}

/** Throws if the newest block is too old or too far in the future. */
export function requireFreshHead(headSeconds: bigint, now: bigint, maxAgeSeconds: number): void {
  const nowSeconds = now / 1_000_000n
  if (nowSeconds - headSeconds > BigInt(maxAgeSeconds)) throw new Error('has no recent block')
  // Bitcoin's rules let the time of a block be two hours ahead.
  if (headSeconds - nowSeconds > 7_200n) throw new Error('has a newest block from the future')
}

export const ascending = (one: bigint, other: bigint): number =>
  one < other ? -1 : one > other ? 1 : 0
