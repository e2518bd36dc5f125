/**
 * `12345678` → `XXXX5678`: every character but the last four becomes `X`, same length; four
 * characters or fewer are masked whole. Characters are counted as code points, so that no half of
 * one is left over.
 */
export function maskAccountNumber(accountNumber: string): string {
  const characters = [...accountNumber]
  const shown = characters.length > 4 ? characters.slice(-4) : []
  return 'X'.repeat(characters.length - shown.length) + shown.join('')
}

/**
 * An address reduced to its country. Null stays null: the contract allows it and nothing is known
 * to show.
 */
export function maskAddress(address: unknown): unknown {
  if (typeof address !== 'object' || address === null) return null
  return { country: (address as { country?: unknown }).country }
}
