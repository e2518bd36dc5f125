import { type TSchema, Type } from 'typebox'
import { limits } from '../platform/limits.ts'
import { decimalCharactersMax, decimalPattern } from '../values/decimal.ts'
import { type Instant, parseInstant } from '../values/instant.ts'
import type { FaultCode } from './fault-codes.ts'
import { echo } from './problem.ts'

/** A query parameter, path parameter or body member: its OpenAPI schema and its parser. */
export type Field<T> = {
  readonly schema: TSchema
  readonly description?: string
  /** The whole sentence of a refused value, where `detail` has a fixed one. */
  readonly sentence?: string
  /** What a body holds, if not a JSON string. The parser gets it as text. */
  readonly json?: 'integer' | 'boolean'
  readonly read: (raw: string) => Reading<T>
}

/** A parameter that may be repeated: at most `entriesMax` entries, joined by OR. */
export type ArrayField<T> = {
  readonly each: Field<T>
  readonly entriesMax: number
  readonly description?: string
}

export type Reading<T> = { readonly value: T } | Refusal

export type Refusal = {
  readonly code: FaultCode
  readonly reason: string
  /** The whole sentence of `detail`, where parameter and reason are not it. */
  readonly sentence?: string
}

const uuidPattern = '^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$'
const uuidForm = new RegExp(uuidPattern)

/** A record id: a UUID in either case, read as lower case. */
export const uuid: Field<string> = {
  schema: Type.String({ format: 'uuid' }),
  read: (raw) =>
    uuidForm.test(raw)
      ? { value: raw.toLowerCase() }
      : { code: 'malformed', reason: `must be uuid, given '${echo(raw)}'` },
}

/** An identifier that another system issued: 1 to 200 characters, compared as they are. */
export const text: Field<string> = {
  schema: Type.String({ minLength: 1, maxLength: limits.identifierLengthMax }),
  read: (raw) =>
    raw.length >= 1 && isWithin(raw, limits.identifierLengthMax)
      ? { value: raw }
      : {
          code: 'wrong_length',
          reason: `must be 1 to ${limits.identifierLengthMax} characters long`,
        },
}

/** Counts characters, of which one takes at most two code units. */
const isWithin = (raw: string, max: number): boolean =>
  raw.length <= max || (raw.length <= 2 * max && [...raw].length <= max)

/** A text that its operation validates. No fault echoes it: it may be a private key. */
export const unread: Field<string> = {
  schema: Type.String({ minLength: 1 }),
  read: (raw) => ({ value: raw }),
}

/** A decimal string above 0 as contract sections 4.7 and 8 define it, kept as sent. */
export const figure: Field<string> = {
  schema: Type.String({ pattern: decimalPattern, maxLength: decimalCharactersMax }),
  read: (raw) => {
    if (raw.length > decimalCharactersMax) {
      return {
        code: 'wrong_length',
        reason: `must have at most ${decimalCharactersMax} characters`,
      }
    }
    if (!decimalForm.test(raw))
      return { code: 'malformed', reason: 'must be a string of decimal digits such as "12.50"' }
    return /[1-9]/.test(raw)
      ? { value: raw }
      : { code: 'out_of_range', reason: 'must be greater than 0' }
  },
}

const decimalForm = new RegExp(decimalPattern)

export const instant: Field<Instant> = {
  schema: Type.String({ format: 'date-time' }),
  read: (raw) => {
    // URL decoding turns a + that the caller did not encode into a blank.
    const value = parseInstant(raw.replace(/ (?=\d{2}:\d{2}$)/, '+'))
    return value === undefined
      ? { code: 'malformed', reason: 'must be an RFC 3339 date-time such as 2026-01-31T09:30:00Z' }
      : { value }
  },
}

export const flag: Field<boolean> = {
  schema: Type.Boolean(),
  read: (raw) => {
    const value = flagForms.get(raw)
    return value === undefined ? { code: 'malformed', reason: 'must be true or false' } : { value }
  },
}

/** A whole number of a body, kept as text. */
export const wholeNumber = (minimum: number, maximum: number): Field<string> => ({
  schema: Type.Integer({ minimum, maximum }),
  json: 'integer',
  read: (raw) =>
    Number(raw) >= minimum && Number(raw) <= maximum
      ? { value: raw }
      : { code: 'out_of_range', reason: `must be between ${minimum} and ${maximum}` },
})

/** A member of a body whose only value is true. */
export const onlyTrue: Field<string> = {
  schema: Type.Boolean({ const: true }),
  json: 'boolean',
  read: (raw) =>
    raw === 'true' ? { value: raw } : { code: 'unknown_value', reason: 'must be true' },
}

/** The forms of Go's `strconv.ParseBool`. Python's clients, for one, send `True`. */
const flagForms: ReadonlyMap<string, boolean> = new Map([
  ...['1', 't', 'T', 'TRUE', 'true', 'True'].map((form) => [form, true] as const),
  ...['0', 'f', 'F', 'FALSE', 'false', 'False'].map((form) => [form, false] as const),
])

/** Exact members only. OpenAPI shows `fallback` as the default of an absent parameter. */
export function enumOf<const M extends readonly string[]>(
  members: M,
  fallback?: M[number],
): Field<M[number]> {
  return {
    schema: Type.Enum([...members], fallback === undefined ? {} : { default: fallback }),
    read: (raw) =>
      members.includes(raw)
        ? { value: raw }
        : { code: 'unknown_value', reason: mustBeOneOf(members) },
  }
}

/** Exact members of an enum that records have too, under the same name in OpenAPI. */
export const memberOf = <M extends string>(
  schema: TSchema & { readonly enum: readonly M[] },
): Field<M> => ({ ...enumOf(schema.enum), schema })

export const upTo100 = <T>(each: Field<T>, description?: string): ArrayField<T> =>
  arrayOf(each, limits.filterEntriesMax, description)

/** For ids, `ref_id`s and enums only: a store scans the index once for each other value. */
export const upTo1000 = <T>(each: Field<T>, description?: string): ArrayField<T> =>
  arrayOf(each, limits.longFilterEntriesMax, description)

const arrayOf = <T>(each: Field<T>, entriesMax: number, description?: string): ArrayField<T> => ({
  each,
  entriesMax,
  ...(description !== undefined && { description }),
})

export const described = <T>(field: Field<T>, description: string): Field<T> => ({
  ...field,
  description,
})

export const worded = <T>(field: Field<T>, sentence: string): Field<T> => ({ ...field, sentence })

/** "must be A, B or C": the reason of every enum's fault, in queries and in imported records. */
export function mustBeOneOf(members: readonly string[]): string {
  const last = members.at(-1)
  const others = members.slice(0, -1)
  return others.length === 0 ? `must be ${last}` : `must be ${others.join(', ')} or ${last}`
}
