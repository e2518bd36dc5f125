import { type TSchema, Type } from 'typebox'
import { Format } from 'typebox/format'
import { Settings } from 'typebox/system'
import { limits } from '../platform/limits.ts'
import { parseInstant } from '../values/instant.ts'
import { mustBeOneOf } from './fields.ts'

/**
 * The members that records are made of. Each schema carries the `reason` that its fault is told with, so that a
 * record's faults read like a query's; OpenAPI leaves the reason out.
 */

// A record may have many faults and all of them are told at once; the library stops at eight by default.
Settings.Set({ maxErrors: 1000 })

// Record timestamps are exact to the microsecond: a finer one is refused, as rounding it would change the record.
Format.Set('date-time', (text) => parseInstant(text)?.finer === false)

const withReason = (reason: string) => ({ reason })

export const uuidMember = Type.String({ format: 'uuid', ...withReason('must be a UUID') })

export const identifierMember = Type.String({
  minLength: 1,
  maxLength: limits.identifierLengthMax,
  ...withReason(`must be a text of 1 to ${limits.identifierLengthMax} characters`),
})

export const timestampMember = Type.String({
  format: 'date-time',
  ...withReason(
    'must be an RFC 3339 date-time with at most six fraction digits, such as 2026-01-31T09:30:00.25Z',
  ),
})

/** An unsigned amount or price: carried through untouched, never through a number. */
export const amountMember = Type.String({
  pattern: '^[0-9]*\\.?[0-9]+$',
  maxLength: 100,
  ...withReason('must be a string of decimal digits such as "12.50"'),
})

export const signedAmountMember = Type.String({
  pattern: '^-?[0-9]*\\.?[0-9]+$',
  maxLength: 100,
  ...withReason('must be a string of decimal digits such as "-12.50"'),
})

export function enumMember<const M extends readonly string[]>(members: M) {
  return Type.Enum([...members] as unknown as [...M], withReason(mustBeOneOf(members)))
}

/** Free text of a person or an institution: a name, a street. */
export function textMember(minLength: 0 | 1 = 0) {
  const maxLength = 500
  return Type.String({
    minLength,
    maxLength,
    ...withReason(`must be a text of ${minLength} to ${maxLength} characters`),
  })
}

/** Client-specified pairs of texts. */
export function metadataMember(pairsMax: number, keyLengthMax: number, valueLengthMax: number) {
  const key = Type.String({ pattern: `^[\\s\\S]{1,${keyLengthMax}}$` })
  const value = Type.String({
    maxLength: valueLengthMax,
    ...withReason(`must be a text of at most ${valueLengthMax} characters`),
  })
  return Type.Record(key, value, {
    maxProperties: pairsMax,
    additionalProperties: false,
    ...withReason(
      `must be at most ${pairsMax} pairs of texts, each key of 1 to ${keyLengthMax} characters`,
    ),
  })
}

/** A plain object of the contract; members that it does not name are refused, lest they be lost unseen. */
export function objectMember<const P extends Readonly<Record<string, TSchema>>>(properties: P) {
  return Type.Object(properties, {
    additionalProperties: false,
    ...withReason('must be an object'),
  })
}

/**
 * An object that may be null. Written as a type pair, not as a union, so that a fault inside the object is told as
 * what it is.
 */
export function nullable<const S extends TSchema>(schema: S): TSchema {
  return Type.Unsafe({ ...schema, type: ['object', 'null'] })
}
