import {
  cryptoNetworks,
  damageOf,
  isLeapSecond,
  limitsOf,
  parseInstant,
  withRule,
} from '@bursar/base'
import { type TEnum, type TSchema, Type } from 'typebox'
import { Format } from 'typebox/format'
import { contractLimits } from './limits.ts'

const limits = limitsOf({
  /** Characters of an amount. Any real supply with 18 decimals fits in 64. */
  amountLengthMax: 100,
})

/**
 * Schemas of record members. Each carries the `reason` of its fault, and a shared one the
 * `component` under which OpenAPI shows it once. OpenAPI leaves both keywords out.
 */

// Timestamps of records are exact to the microsecond. A finer one is refused, since rounding would
// change the record. A rule refuses a leap second, with a sentence of its own.
Format.Set('date-time', (text) => parseInstant(text)?.finer === false || isLeapSecond(text))

/** The member with a description. It says what the value is for, apart from its form. */
export const about = <S extends TSchema>(description: string, schema: S): S =>
  withKeyword(schema, 'description', description)

/** The schema as a component of OpenAPI, so that client generators give it one type. */
export const component = <S extends TSchema>(name: string, description: string, schema: S): S =>
  withKeyword(schema, 'component', { name, description })

/** A view as a component of OpenAPI, under its own description. */
export const asComponent = <S extends TSchema>(view: {
  readonly name: string
  readonly schema: S
}): S => withKeyword(view.schema, 'component', { name: view.name })

/** Copies the schema with its hidden properties, which mark optional members. */
const withKeyword = <S extends TSchema>(schema: S, keyword: string, value: unknown): S =>
  Object.create(Object.getPrototypeOf(schema), {
    ...Object.getOwnPropertyDescriptors(schema),
    [keyword]: { value, enumerable: true },
  })

/** The reason of a time that has no count of microseconds. */
export const leapSecond = 'must not be in a leap second (:60), which is not taken; send :59'

/** A schema of date-times with a sentence of its own for a leap second. */
export function withoutLeapSecond<S extends TSchema>(schema: S) {
  return withRule(schema, (text) => (isLeapSecond(text) ? leapSecond : undefined))
}

export const uuidMember = Type.String({ format: 'uuid', reason: 'must be a UUID' })

/** An identifier that another system issued. One that is certainly damaged is refused. */
export const identifierMember = withRule(
  Type.String({
    minLength: 1,
    maxLength: contractLimits.identifierLengthMax,
    reason: `must be a text of 1 to ${contractLimits.identifierLengthMax} characters`,
  }),
  damageOf,
)

export const timestampMember = withoutLeapSecond(
  Type.String({
    format: 'date-time',
    reason:
      'must be an RFC 3339 date-time with at most six fraction digits, such as 2026-01-31T09:30:00.25Z',
  }),
)

const amountReason = (example: string) => `must be a string of decimal digits such as "${example}"`

/** An unsigned amount or price. It stays text from import to answer. */
export const amountMember = Type.String({
  pattern: '^[0-9]*\\.?[0-9]+$',
  maxLength: limits.amountLengthMax,
  reason: amountReason('12.50'),
})

export const signedAmountMember = Type.String({
  pattern: '^-?[0-9]*\\.?[0-9]+$',
  maxLength: limits.amountLengthMax,
  reason: amountReason('-12.50'),
})

export const enumMember = (members: readonly string[]): TEnum<string[]> =>
  Type.Enum([...members], { reason: mustBeOneOf(members) })

export const cryptoNetworkMember = component(
  'CryptoNetwork',
  'A blockchain network.',
  enumMember(cryptoNetworks),
)

/** Free text, such as a name or a street. */
export function textMember(minLength: 0 | 1 = 0) {
  const maxLength = 500
  return Type.String({
    minLength,
    maxLength,
    reason: `must be a text of ${minLength} to ${maxLength} characters`,
  })
}

/** Client-specified pairs of strings. */
export function metadataMember(pairsMax: number, keyLengthMax: number, valueLengthMax: number) {
  const key = Type.String({ pattern: `^[\\s\\S]{1,${keyLengthMax}}$` })
  const value = Type.String({
    maxLength: valueLengthMax,
    reason: `must be a text of at most ${valueLengthMax} characters`,
  })
  return Type.Record(key, value, {
    maxProperties: pairsMax,
    additionalProperties: false,
    reason: `must be at most ${pairsMax} pairs of texts, each key of 1 to ${keyLengthMax} characters`,
  })
}

/**
 * An object of the contract. Import refuses unknown members rather than lose them. With
 * `nullIsFault` it refuses a null, which otherwise means an absent member where that is optional.
 */
export function objectMember<const P extends Readonly<Record<string, TSchema>>>(
  properties: P,
  reason = 'must be an object',
  more: { readonly nullIsFault?: true } = {},
) {
  return Type.Object(properties, { additionalProperties: false, reason, ...more })
}

/** An object or null: a pair of types and no union, so that faults inside keep their reasons. */
export function nullable<const S extends TSchema>(schema: S): TSchema {
  return Type.Unsafe({ ...schema, type: ['object', 'null'] })
}

/** "must be A, B or C": the reason of every enum's fault, in queries and in imported records. */
function mustBeOneOf(members: readonly string[]): string {
  const last = members.at(-1)
  const others = members.slice(0, -1)
  return others.length === 0 ? `must be ${last}` : `must be ${others.join(', ')} or ${last}`
}
