import { type TSchema, Type } from 'typebox'
import { Format } from 'typebox/format'
import { Settings } from 'typebox/system'
import { limits } from '../platform/limits.ts'
import { parseInstant } from '../values/instant.ts'
import { mustBeOneOf } from './fields.ts'

/** Schemas of record members. Each carries the `reason` of its fault; OpenAPI leaves it out. */

// An import reports every fault of a record; the library stops at eight by default.
Settings.Set({ maxErrors: 1000 })

// Timestamps of records are exact to the microsecond. A finer one is refused, since rounding would
// change the record.
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

/** An unsigned amount or price. It stays text from import to answer. */
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

/** Free text, such as a name or a street. */
export function textMember(minLength: 0 | 1 = 0) {
  const maxLength = 500
  return Type.String({
    minLength,
    maxLength,
    ...withReason(`must be a text of ${minLength} to ${maxLength} characters`),
  })
}

/** Client-specified pairs of strings. */
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

/** An object of the contract. Import refuses unknown members rather than lose them. */
export function objectMember<const P extends Readonly<Record<string, TSchema>>>(
  properties: P,
  reason = 'must be an object',
) {
  return Type.Object(properties, { additionalProperties: false, ...withReason(reason) })
}

/** An object or null: a pair of types and no union, so that faults inside keep their reasons. */
export function nullable<const S extends TSchema>(schema: S): TSchema {
  return Type.Unsafe({ ...schema, type: ['object', 'null'] })
}
