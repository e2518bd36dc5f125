/** The largest bigint, since `Math.max` does not take bigints. */
export function largest(first: bigint, ...others: readonly bigint[]): bigint {
  let held = first
  for (const other of others) if (other > held) held = other
  return held
}

/** The smallest bigint. */
export function smallest(first: bigint, ...others: readonly bigint[]): bigint {
  let held = first
  for (const other of others) if (other < held) held = other
  return held
}
