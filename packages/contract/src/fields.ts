import {
  decimalCharactersMax,
  decimalPattern,
  type Instant,
  isLeapSecond,
  limitsOf,
  parseInstant,
  validatorOf,
  violationsOf,
} from '@bursar/base'
import { type TSchema, Type } from 'typebox'
import { contractLimits } from './limits.ts'
import { enumMember, leapSecond } from './members.ts'
import { echo } from './problem.ts'
import { type Refusal, refusalOf } from './schema-refusal.ts'

const limits = limitsOf({
  /** Entries of a filter that the contract does not limit: as many as a page has records. */
  longFilterEntriesMax: 1000,
})

/** A query parameter, path parameter or body member. Its schema has the reason of its fault. */
export type Field<T> = {
  readonly schema: TSchema
  readonly description?: string
  /** The whole sentence of a refused value, where `detail` has a fixed one. */
  readonly sentence?: string
  /** Reads a text, also that of a number or boolean in a body. */
  readonly read: (raw: string) => Reading<T>
}

/** A parameter that may be repeated: at most `entriesMax` entries, joined by OR. */
export type ArrayField<T> = {
  readonly each: Field<T>
  readonly entriesMax: number
  readonly description?: string
}

export type Reading<T> = { readonly value: T } | Refusal

/** A text that its schema judges. `convert` takes what the schema accepts. */
function field<T>(
  schema: TSchema,
  convert: (raw: string) => T,
  toValue: (raw: string) => unknown = asIs,
): Field<T> {
  const validator = validatorOf(schema)
  const { type = '', maxLength = Number.POSITIVE_INFINITY } = schema as Keywords
  const read = (raw: string): Reading<T> => {
    if (validator().Check(toValue(raw))) return { value: convert(raw) }
    // A pattern may take quadratic time. Twice as many code units are too long in any case.
    const value = toValue(raw.slice(0, 2 * maxLength + 1))
    const [refusal] = violationsOf(schema, validator().Errors(value)[1]).map((each) =>
      refusalOf(each),
    )
    const { code, reason } = refusal ?? { code: 'malformed', reason: 'is not of its form' }
    const shown = reason.replace('{given}', () => echo(raw))
    return { code: (code === 'wrong_type' && codesOfText[type]) || code, reason: shown }
  }
  return { schema, read }
}

type Keywords = { readonly type?: string; readonly maxLength?: number }

const asIs = (raw: string): string => raw

const textField = (schema: TSchema): Field<string> => field(schema, asIs)

/** The codes of texts that stand for no value of the type. */
const codesOfText: Readonly<Record<string, Refusal['code']>> = {
  integer: 'out_of_range',
  boolean: 'malformed',
}

/** The forms of Go's `strconv.ParseBool`. Python's clients, for one, send `True`. */
const flagForms: ReadonlyMap<string, boolean> = new Map([
  ...['1', 't', 'T', 'TRUE', 'true', 'True'].map((form) => [form, true] as const),
  ...['0', 'f', 'F', 'FALSE', 'false', 'False'].map((form) => [form, false] as const),
])

/** A record id: a UUID in either case, read as lower case. */
export const uuid = field(
  Type.String({ format: 'uuid', reason: "must be uuid, given '{given}'" }),
  (raw) => raw.toLowerCase(),
)

/** An identifier that another system issued: 1 to 200 characters, compared as they are. */
export const text = textField(
  Type.String({
    minLength: 1,
    maxLength: contractLimits.identifierLengthMax,
    reason: `must be 1 to ${contractLimits.identifierLengthMax} characters long`,
  }),
)

/** A text that its operation validates. No fault echoes it: it may be a private key. */
export const unread: Field<string> = {
  schema: Type.String({ minLength: 1 }),
  read: (raw) => ({ value: raw }),
}

const aboveZero = (decimal: Field<string>): Field<string> => ({
  ...decimal,
  read: (raw) => {
    const reading = decimal.read(raw)
    if (!('value' in reading) || /[1-9]/.test(raw)) return reading
    return { code: 'out_of_range', reason: 'must be greater than 0' }
  },
})

/** A decimal string above 0 as contract sections 4.7 and 8 define it, kept as sent. */
export const figure: Field<string> = aboveZero(
  textField(
    Type.String({
      pattern: decimalPattern,
      maxLength: decimalCharactersMax,
      reason: 'must be a string of decimal digits such as "12.50"',
    }),
  ),
)

const noInstant = 'must be an RFC 3339 date-time such as 2026-01-31T09:30:00Z'

/** Unlike the time of a record, it may be finer than a microsecond. */
export const instant: Field<Instant> = {
  schema: Type.String({ format: 'date-time' }),
  read: (raw) => {
    // URL decoding turns a + that the caller did not encode into a blank.
    const value = parseInstant(raw.replace(/ (?=\d{2}:\d{2}$)/, '+'))
    if (value !== undefined) return { value }
    return { code: 'malformed', reason: isLeapSecond(raw) ? leapSecond : noInstant }
  },
}

export const flag = field(
  Type.Boolean({ reason: 'must be true or false' }),
  (raw) => flagForms.get(raw) === true,
  (raw) => flagForms.get(raw) ?? raw,
)

/** A whole number of a query. */
export const numberOf = (schema: TSchema): Field<number> =>
  field(schema, Number, (raw) => (/^[0-9]{1,9}$/.test(raw) ? Number(raw) : raw))

/** A whole number of a body, kept as text. */
export const bodyNumber = (schema: TSchema): Field<string> => field(schema, asIs, Number)

export const wholeNumber = (minimum: number, maximum: number): Field<string> =>
  bodyNumber(
    Type.Integer({ minimum, maximum, reason: `must be between ${minimum} and ${maximum}` }),
  )

/** A member of a body whose only value is true. */
export const onlyTrue = field(
  Type.Boolean({ const: true, reason: 'must be true' }),
  asIs,
  (raw) => raw === 'true',
)

/** Exact members only. OpenAPI shows `fallback` as the default of an absent parameter. */
export const enumOf = <const M extends readonly string[]>(
  members: M,
  fallback?: M[number],
): Field<string> =>
  textField({ ...enumMember(members), ...(fallback !== undefined && { default: fallback }) })

/** Exact members of an enum that records have too, under the same name in OpenAPI. */
export const memberOf: (schema: TSchema) => Field<string> = textField

export const upTo100 = <T>(each: Field<T>, description?: string): ArrayField<T> =>
  arrayOf(each, contractLimits.filterEntriesMax, description)

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
