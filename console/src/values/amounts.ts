/** Exact decimals: whole units and the number of decimals. No float touches an amount. */
type Amount = { readonly units: bigint; readonly decimals: number }

/** A number as the API answers amounts; `.5` is one too. */
const amountText = /^-?(\d+\.?\d*|\.\d+)$/

export const isAmount = (text: string): boolean => amountText.test(text)

function parse(text: string): Amount {
  const [whole = '', fraction = ''] = text.replace('-', '').split('.')
  const units = BigInt(`${whole}${fraction}` || '0')
  return { units: text.startsWith('-') ? -units : units, decimals: fraction.length }
}

function aligned(one: string, other: string): readonly [bigint, bigint, number] {
  const [a, b] = [parse(one), parse(other)]
  const decimals = Math.max(a.decimals, b.decimals)
  const raise = ({ units, decimals: own }: Amount) => units * 10n ** BigInt(decimals - own)
  return [raise(a), raise(b), decimals]
}

function print(units: bigint, decimals: number): string {
  const sign = units < 0n ? '-' : ''
  const digits = (units < 0n ? -units : units).toString().padStart(decimals + 1, '0')
  const whole = digits.slice(0, digits.length - decimals)
  const fraction = digits.slice(digits.length - decimals).replace(/0+$/, '')
  return sign + (fraction === '' ? whole : `${whole}.${fraction}`)
}

export function subtract(one: string, other: string): string {
  const [a, b, decimals] = aligned(one, other)
  return print(a - b, decimals)
}

export function add(one: string, other: string): string {
  const [a, b, decimals] = aligned(one, other)
  return print(a + b, decimals)
}

export function compareAmounts(one: string, other: string): number {
  const [a, b] = aligned(one, other)
  return a < b ? -1 : a > b ? 1 : 0
}

/** The largest of amounts, at least zero. */
export const largestOf = (amounts: readonly string[]): string =>
  amounts.reduce((most, amount) => (compareAmounts(amount, most) > 0 ? amount : most), '0')

/**
 * How many thousandths of `whole` a part is, from 0 to 1000. It places a mark of a plot; figures
 * are never made of it.
 */
export function thousandthsOf(part: string, whole: string): number {
  const [a, b] = aligned(part, whole)
  if (b <= 0n || a <= 0n) return 0
  const share = (a * 1000n) / b
  return share > 1000n ? 1000 : Number(share)
}

/**
 * The stored digits as people write them: `00.5` and `.5` are `0.5`, groups of three, a real minus
 * sign, no zeros at the end. Nothing is rounded.
 */
export function splitAmount(text: string): { readonly whole: string; readonly fraction: string } {
  const isNegative = text.startsWith('-')
  const [digits = '', decimals = ''] = text.replace('-', '').split('.')
  const bare = digits.replace(/^0+(?=\d)/, '') || '0'
  const fraction = decimals.replace(/0+$/, '')
  const isZero = bare === '0' && fraction === ''
  const sign = isNegative && !isZero ? '−' : ''
  return {
    whole: sign + bare.replace(/\B(?=(\d{3})+$)/g, ','),
    fraction: fraction === '' ? '' : `.${fraction}`,
  }
}

/**
 * `12,345`. The browser's own formatter would load its tables of all languages, which takes a slow
 * phone a quarter of a second.
 */
export const groupedCount = (count: number): string => grouped(String(count))

export function grouped(text: string): string {
  if (!isAmount(text)) return text
  const { whole, fraction } = splitAmount(text)
  return whole + fraction
}
