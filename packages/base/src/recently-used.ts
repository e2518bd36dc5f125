/** The values that were used last, within a limit. */
export type RecentlyUsed<K, V> = {
  get(key: K): V | undefined
  set(key: K, value: V): void
  delete(key: K): void
}

/**
 * Keeps values in two generations: what is used moves to the young one, and the old one is dropped
 * when the young one has half of `sizeMax`. The size of a value is 1 by default.
 */
export function keepRecentlyUsed<K, V>(
  sizeMax: number,
  sizeOf: (value: V) => number = () => 1,
): RecentlyUsed<K, V> {
  let [young, old] = [new Map<K, V>(), new Map<K, V>()]
  let youngSize = 0
  const set = (key: K, value: V) => {
    if (youngSize >= sizeMax / 2) {
      ;[young, old] = [new Map(), young]
      youngSize = 0
    }
    const replaced = young.get(key)
    youngSize += sizeOf(value) - (replaced === undefined ? 0 : sizeOf(replaced))
    young.set(key, value)
  }
  return {
    get: (key) => {
      const used = young.get(key)
      if (used !== undefined) return used
      const unused = old.get(key)
      if (unused !== undefined) set(key, unused)
      return unused
    },
    set,
    delete: (key) => {
      const removed = young.get(key)
      if (removed !== undefined) youngSize -= sizeOf(removed)
      young.delete(key)
      old.delete(key)
    },
  }
}
