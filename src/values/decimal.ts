import assert from 'node:assert/strict'

/** Longer figures are refused before they are read: 18 decimals and any supply on earth fit in 64. */
export const decimalCharactersMax = 64

/** The contract's pattern for money, sections 2.11 and 4.7: `.5` and `00.5` are legal, `5.` and `1e3` are not. */
export const decimalPattern = '^[0-9]*\\.?[0-9]+$'

const decimalForm = new RegExp(decimalPattern)

export type ParsedDecimal =
  | { readonly ok: true; readonly units: bigint }
  | { readonly ok: false; readonly fault: 'form' | 'length' | 'precision' }

/**
 * Decimal text to whole smallest units; nothing is ever rounded.
 *
 * `decimals` is how many the asset has on its network, 0 to 36. Zeros after the last of them are legal
 * (`1.0000000000` in a 6-decimal asset), other digits there are the fault `precision`. Text off the contract's
 * pattern is `form`, text of more than 64 characters `length`. `parseDecimal('0.5', 6)` gives `500000n`.
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

/**
 * Whole smallest units, not negative, to decimal text in the shortest exact form: no exponent, no sign, no
 * zeros after the last digit that counts. `printDecimal(223n, 8)` is `0.00000223`, `printDecimal(0n, 8)` is `0`.
 */
export function printDecimal(units: bigint, decimals: number): string {
  assertDecimals(decimals)
  assert(units >= 0n, 'money that is printed is never negative')
  const digits = units.toString().padStart(decimals + 1, '0')
  const whole = digits.slice(0, digits.length - decimals)
  const fraction = digits.slice(digits.length - decimals).replace(/0+$/, '')
  return fraction === '' ? whole : `${whole}.${fraction}`
}

function assertDecimals(decimals: number): void {
  assert(Number.isInteger(decimals) && decimals >= 0 && decimals <= 36, 'decimals are 0 to 36')
}
