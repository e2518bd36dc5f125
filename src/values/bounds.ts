/** The largest of some whole numbers, units or microseconds; `Math.max` takes no bigint. */
export function largest(first: bigint, ...others: readonly bigint[]): bigint {
  let held = first
  for (const other of others) if (other > held) held = other
  return held
}

/** The smallest of some whole numbers. */
export function smallest(first: bigint, ...others: readonly bigint[]): bigint {
  let held = first
  for (const other of others) if (other < held) held = other
  return held
}
