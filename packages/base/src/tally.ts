/** What each key holds, and all of them together. */
export type Tally = {
  of(key: string): number
  total(): number
  /** Counts more of a key, or fewer. */
  add(key: string, more: number): void
}

/** A key that holds nothing takes no memory. */
export function openTally(): Tally {
  const held = new Map<string, number>()
  let total = 0
  const of = (key: string) => held.get(key) ?? 0
  return {
    of,
    total: () => total,
    add: (key, more) => {
      total += more
      const own = of(key) + more
      if (own > 0) held.set(key, own)
      else held.delete(key)
    },
  }
}
