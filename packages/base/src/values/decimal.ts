import assert from 'node:assert/strict'

/** 18 decimals of any real supply fit in 64 characters. Longer text is refused unread. */
export const decimalCharactersMax = 64

/** The contract's pattern for money (2.11, 4.7): `.5` and `00.5` match, `5.` and `1e3` do not. */
export const decimalPattern = '^[0-9]*\\.?[0-9]+$'

const decimalForm = new RegExp(decimalPattern)

export type ParsedDecimal =
  | { readonly ok: true; readonly units: bigint }
  | { readonly ok: false; readonly fault: 'form' | 'length' | 'precision' }

/**
 * Parses decimal text to whole smallest units, without rounding.
 *
 * `decimals` is the asset's number of decimals on its network, 0 to 36. Zeros after the last
 * decimal are valid (`1.0000000000` with 6 decimals); other digits there give the fault
 * `precision`. Text that does not match the pattern gives `form`, text over 64 characters `length`.
 * `parseDecimal('0.5', 6)` gives `500000n`.
 */
export function parseDecimal(text: string, decimals: number): ParsedDecimal {
  assertDecimals(decimals)
  if (text.length > decimalCharactersMax) return { ok: false, fault: 'length' }
  if (!decimalForm.test(text)) return { ok: false, fault: 'form' }
  const point = text.indexOf('.')
  const whole = point === -1 ? text : text.slice(0, point)
  const fraction = point === -1 ? '' : text.slice(point + 1)
  if (/[1-9]/.test(fraction.slice(decimals))) return { ok: false, fault: 'precision' }
  const units = BigInt(whole + fraction.slice(0, decimals).padEnd(decimals, '0'))
  return { ok: true, units }
}

/** Prints units as the shortest exact text: `printDecimal(223n, 8)` is `0.00000223`. */
export function printDecimal(units: bigint, decimals: number): string {
  assertDecimals(decimals)
  assert(units >= 0n, 'printDecimal takes units from 0')
  const digits = units.toString().padStart(decimals + 1, '0')
  const whole = digits.slice(0, digits.length - decimals)
  const fraction = digits.slice(digits.length - decimals).replace(/0+$/, '')
  return fraction === '' ? whole : `${whole}.${fraction}`
}

function assertDecimals(decimals: number): void {
  assert(Number.isInteger(decimals) && decimals >= 0 && decimals <= 36, 'decimals are 0 to 36')
}
