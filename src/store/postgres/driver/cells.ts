import assert from 'node:assert/strict'
import type { Row } from './connection.ts'

/** Reads a column by its position, from 0. */
export function text(row: Row, at: number): string {
  const cell = row[at]
  assert(cell != null, `Column ${at} of a row is null.`)
  return cell.toString('utf8')
}

/** Microseconds since 1970, UTC, or any other whole number. */
export const whole = (row: Row, at: number): bigint => BigInt(text(row, at))

export const optionalWhole = (row: Row, at: number): bigint | undefined =>
  row[at] == null ? undefined : whole(row, at)

/** PostgreSQL's text form of bytes: `\x` and two hexadecimal digits for each. */
export const hexOf = (bytes: Uint8Array): string => `\\x${Buffer.from(bytes).toString('hex')}`

export const optionalBytes = (row: Row, at: number): Uint8Array | undefined =>
  row[at] == null ? undefined : Buffer.from(text(row, at).slice(2), 'hex')

/** Replaces NUL, which PostgreSQL cannot store, as the driver replaces half a surrogate pair. */
export const storable = (value: string): string => value.replaceAll('\0', '\ufffd')
