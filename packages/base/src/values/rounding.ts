import assert from 'node:assert/strict'

/** Divides and rounds up, for what is charged: `divideUp(7n, 2n)` is `4n`. */
export function divideUp(dividend: bigint, divisor: bigint): bigint {
  assert(dividend >= 0n && divisor > 0n, 'divideUp takes a dividend from 0 and a divisor from 1')
  return (dividend + divisor - 1n) / divisor
}

/** Divides and rounds down, for what the caller keeps: `divideDown(7n, 2n)` is `3n`. */
export function divideDown(dividend: bigint, divisor: bigint): bigint {
  assert(dividend >= 0n && divisor > 0n, 'divideDown takes a dividend from 0 and a divisor from 1')
  return dividend / divisor
}

/** The smallest multiple of `step` that is at least `units`. `roundUpToStep(11n, 5n)` is `15n`. */
export function roundUpToStep(units: bigint, step: bigint): bigint {
  return divideUp(units, step) * step
}
