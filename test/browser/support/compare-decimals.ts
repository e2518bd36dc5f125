/** Orders decimal text exactly, as a check of the console's own comparison. */
export function compareDecimals(one: string, other: string): number {
  const [a, b] = [one, other].map((text) => {
    const [whole = '', fraction = ''] = text.split('.')
    return BigInt(whole + fraction.padEnd(36, '0'))
  })
  return a === b ? 0 : Number(a) < Number(b) ? -1 : 1
}
