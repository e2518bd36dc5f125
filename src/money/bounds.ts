/** The largest of some units; `Math.max` takes no bigint. */
export function largest(first: bigint, ...others: readonly bigint[]): bigint {
  let held = first
  for (const units of others) if (units > held) held = units
  return held
}

/** The smallest of some units. */
export function smallest(first: bigint, ...others: readonly bigint[]): bigint {
  let held = first
  for (const units of others) if (units < held) held = units
  return held
}
