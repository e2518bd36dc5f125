import assert from 'node:assert/strict'
import type { Row } from './connection.ts'

/** The columns of a row by their place, from 0. */
export function text(row: Row, at: number): string {
  const cell = row[at]
  assert(cell != null, `Column ${at} of a row of the database is null.`)
  return cell.toString('utf8')
}

/** Microseconds since 1970, UTC, or any other whole number. */
export const whole = (row: Row, at: number): bigint => BigInt(text(row, at))

export const optionalText = (row: Row, at: number): string | undefined =>
  row[at] == null ? undefined : text(row, at)

export const optionalWhole = (row: Row, at: number): bigint | undefined =>
  row[at] == null ? undefined : whole(row, at)

/** The text form of bytes, as the server writes them and reads them: `\x` and two digits for each. */
export const hexOf = (bytes: Uint8Array): string => `\\x${Buffer.from(bytes).toString('hex')}`

export const optionalBytes = (row: Row, at: number): Uint8Array | undefined =>
  row[at] == null ? undefined : Buffer.from(text(row, at).slice(2), 'hex')

/**
 * A text from outside in a form that the database can be asked for. It holds no NUL; one becomes the sign that stands
 * for a character that cannot be written, as the driver does with half a surrogate pair.
 */
export const storable = (value: string): string => value.replaceAll('\0', '\ufffd')
