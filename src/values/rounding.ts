import assert from 'node:assert/strict'

/**
 * `dividend / divisor`, rounded up to the next whole unit. For what the house charges.
 * Both are whole units; the dividend is not negative and the divisor is positive. `divideUp(7n, 2n)` is `4n`.
 */
export function divideUp(dividend: bigint, divisor: bigint): bigint {
  assert(dividend >= 0n && divisor > 0n, 'divideUp takes a dividend from 0 and a divisor from 1')
  return (dividend + divisor - 1n) / divisor
}

/**
 * `dividend / divisor`, rounded down to whole units. For what remains to the caller after a fee that was
 * rounded up. Same bounds as `divideUp`. `divideDown(7n, 2n)` is `3n`.
 */
export function divideDown(dividend: bigint, divisor: bigint): bigint {
  assert(dividend >= 0n && divisor > 0n, 'divideDown takes a dividend from 0 and a divisor from 1')
  return dividend / divisor
}

/** The smallest multiple of `step` that is not below `units`. `roundUpToStep(11n, 5n)` is `15n`. */
export function roundUpToStep(units: bigint, step: bigint): bigint {
  return divideUp(units, step) * step
}
