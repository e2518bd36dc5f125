import assert from 'node:assert/strict'

/** A row by column name, as both drivers return it: text as string, whole numbers as bigint. */
export type NamedRow = Readonly<Record<string, unknown>>

export function text(row: NamedRow, column: string): string {
  const value = row[column]
  assert(typeof value === 'string', `Column ${column} is not text.`)
  return value
}

/** Microseconds since 1970, UTC, or any other whole number. */
export function whole(row: NamedRow, column: string): bigint {
  const value = row[column]
  assert(typeof value === 'bigint', `Column ${column} is not a whole number.`)
  return value
}

export const optionalText = (row: NamedRow, column: string): string | undefined =>
  row[column] === null ? undefined : text(row, column)

export const optionalWhole = (row: NamedRow, column: string): bigint | undefined =>
  row[column] === null ? undefined : whole(row, column)

export function bytes(row: NamedRow, column: string): Uint8Array {
  const value = row[column]
  assert(value instanceof Uint8Array, `Column ${column} is not bytes.`)
  return value
}

/** The stores spell true differently. */
export const isTrue = (value: unknown): boolean => value === true || value === 1n
