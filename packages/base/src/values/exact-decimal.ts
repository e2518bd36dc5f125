/** A decimal of any length: `units` of ten to the power of `-decimals`. */
export type ExactDecimal = { readonly units: bigint; readonly decimals: number }

export const zero: ExactDecimal = { units: 0n, decimals: 0 }

/** Reads an amount of the contract, such as `12.50` or `.5`, whose form has been checked. */
export function readExact(text: string): ExactDecimal {
  const point = text.indexOf('.')
  if (point === -1) return { units: BigInt(text), decimals: 0 }
  const fraction = text.slice(point + 1)
  return { units: BigInt(text.slice(0, point) + fraction), decimals: fraction.length }
}

export function plus(one: ExactDecimal, other: ExactDecimal): ExactDecimal {
  const decimals = Math.max(one.decimals, other.decimals)
  return { units: unitsWith(one, decimals) + unitsWith(other, decimals), decimals }
}

export const minus = (one: ExactDecimal, { units, decimals }: ExactDecimal): ExactDecimal =>
  plus(one, { units: -units, decimals })

/** The shortest exact text. */
export function printExact({ units, decimals }: ExactDecimal): string {
  const sign = units < 0n ? '-' : ''
  const { whole, fraction } = digitsOf({ units: units < 0n ? -units : units, decimals })
  return `${sign}${whole === '' ? '0' : whole}${fraction === '' ? '' : `.${fraction}`}`
}

/**
 * A text for an amount that is not negative: the order of such texts, byte by byte, is that of
 * their amounts, and equal amounts have the same text. The number of whole digits comes first.
 */
export function sortKeyOf(amount: ExactDecimal): string {
  const { whole, fraction } = digitsOf(amount)
  return `${String(whole.length).padStart(COUNT_DIGITS, '0')}${whole}${fraction}`
}

/** The amount of such a text. */
export function readSortKey(key: string): ExactDecimal {
  const wholeDigits = Number(key.slice(0, COUNT_DIGITS))
  const digits = key.slice(COUNT_DIGITS)
  return { units: BigInt(digits), decimals: digits.length - wholeDigits }
}

/** An amount has at most 100 characters, and a sum of them a few more. */
const COUNT_DIGITS = 3

const unitsWith = ({ units, decimals }: ExactDecimal, wanted: number): bigint =>
  units * 10n ** BigInt(wanted - decimals)

/** Without zeros at the begin and at the end. */
function digitsOf({ units, decimals }: ExactDecimal) {
  const digits = String(units).padStart(decimals, '0')
  const point = digits.length - decimals
  return {
    whole: digits.slice(0, point).replace(/^0+/, ''),
    fraction: digits.slice(point).replace(/0+$/, ''),
  }
}
