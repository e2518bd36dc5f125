import { hash } from 'node:crypto'

/** A digest of what a place names, which tells it from what has its number or its time later. */
export const placeDigest = (named: string): bigint =>
  hash('sha256', named, 'buffer').readBigInt64BE()

/**
 * What the place of a cursor names is not there: a restore or a fail-over has lost it. A list that
 * goes on from there would skip or repeat something.
 */
export class PlaceLost extends Error {
  override readonly name = 'PlaceLost'
}
