/** The value of a key, made at its first use. Maps of Node 24 have no `getOrInsertComputed`. */
export function getOrInsert<K, V>(map: Map<K, V>, key: K, make: (key: K) => V): V {
  const known = map.get(key)
  if (known !== undefined || map.has(key)) return known as V
  const made = make(key)
  map.set(key, made)
  return made
}
