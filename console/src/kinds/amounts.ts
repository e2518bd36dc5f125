/** Exact decimals: whole units and the number of decimals. No float touches an amount. */
type Amount = { readonly units: bigint; readonly decimals: number }

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

/** Groups the digits before the point: `8346.522046` is `8,346.522046`. */
export function grouped(amount: string): string {
  const [whole = '', fraction] = amount.split('.')
  const separated = whole.replace(/\B(?=(\d{3})+$)/g, ',')
  return fraction === undefined ? separated : `${separated}.${fraction}`
}
