import fc from 'fast-check'
import { worldRecords } from '../../packages/sandbox/src/sample-records.ts'
import {
  type Document,
  type DocumentedParameter,
  resolveSchema,
  type Schema,
} from './documented.ts'

/** Generates the parts of requests from an OpenAPI document: valid, nearly valid and hostile. */

/** Texts that have broken other servers. */
const hostileTexts = [
  '',
  ' ',
  '\u0000',
  'a\u0000b',
  '\r\nSet-Cookie: a=b',
  '../../etc/passwd',
  '..%2f',
  '%00',
  '%25',
  '<img src=x onerror=alert(1)>',
  "' OR '1'='1' --",
  '"; drop table fiat_account; --',
  '{"$ne":null}',
  '[object Object]',
  '__proto__',
  'constructor',
  'null',
  'undefined',
  'NaN',
  '-1',
  '0',
  '1e400',
  '9007199254740993',
  '١٢',
  '10',
  '\u202egnp.exe',
  '\ufeff',
  'ﬀ',
  '𝕏'.repeat(300),
  'x'.repeat(5000),
  'a,b',
  '*',
  '%',
  '_',
  '\\',
] as const

/** A seventh of the texts in both customers' sandbox records. */
const storedTexts = [...new Set(textsOf(worldRecords()))].filter((_, at) => at % 7 === 0)

function textsOf(value: unknown): string[] {
  if (typeof value === 'string') return value === '' ? [] : [value]
  if (typeof value !== 'object' || value === null) return []
  return Object.values(value).flatMap(textsOf)
}

export const storedIds = Object.values(worldRecords()).flatMap((records) =>
  records.map(({ id }) => String(id)),
)
const storedTimes = storedTexts.filter((text) => /^\d{4}-\d\d-\d\dT/.test(text))

const twoDigits = (max: number, min = 0) =>
  fc.integer({ min, max }).map((value) => String(value).padStart(2, '0'))

/** An RFC 3339 date-time in any of its forms. */
const dateTime = fc
  .record({
    year: fc.integer({ min: 2, max: 9998 }).map((year) => String(year).padStart(4, '0')),
    month: twoDigits(12, 1),
    day: twoDigits(28, 1),
    hour: twoDigits(23),
    minute: twoDigits(59),
    second: twoDigits(59),
    fraction: fc.constantFrom('', '.5', '.123', '.123456', '.123456789', '.000000001'),
    offset: fc.oneof(
      fc.constantFrom('Z', 'z', '+00:00', '-00:00'),
      fc
        .tuple(fc.constantFrom('+', '-', ' '), twoDigits(23), twoDigits(59))
        .map(([sign, hours, minutes]) => `${sign}${hours}:${minutes}`),
    ),
    letter: fc.constantFrom('T', 't'),
  })
  .map(
    ({ year, month, day, hour, minute, second, fraction, offset, letter }) =>
      `${year}-${month}-${day}${letter}${hour}:${minute}:${second}${fraction}${offset}`,
  )

/** Values that the parameter's schema allows. */
export function validTexts(document: Document, schema: Schema): fc.Arbitrary<string> {
  const { type, format, enum: members, minimum, maximum } = resolveSchema(document, schema)
  if (members !== undefined) return fc.constantFrom(...members.map(String))
  if (type === 'boolean') return fc.constantFrom('true', 'false')
  if (type === 'integer') {
    return fc
      .integer({ min: minimum ?? 0, max: maximum ?? 2 ** 31 - 1 })
      .map((value) => String(value))
  }
  if (format === 'uuid') {
    const any = fc.oneof(fc.constantFrom(...storedIds), fc.uuid())
    return fc.tuple(any, fc.boolean()).map(([id, upper]) => (upper ? id.toUpperCase() : id))
  }
  if (format === 'date-time') return fc.oneof(fc.constantFrom(...storedTimes), dateTime)
  return fc.oneof(
    fc.constantFrom(...storedTexts.filter((text) => text.length <= 200)),
    fc.string({ unit: 'grapheme-ascii', minLength: 1, maxLength: 200 }),
    fc
      .string({ unit: 'binary', minLength: 1, maxLength: 50 })
      .filter((text) => !text.includes('\0')),
  )
}

/** A valid text, a valid text with one character changed, or a hostile one. */
export function anyTexts(document: Document, schema: Schema): fc.Arbitrary<string> {
  const valid = validTexts(document, schema)
  const nearlyValid = fc
    .tuple(valid, fc.nat(), fc.string({ unit: 'binary', maxLength: 2 }))
    .map(([text, at, other]) => {
      const cut = at % (text.length + 1)
      // Half of a surrogate pair has no UTF-8.
      return (text.slice(0, cut) + other + text.slice(cut + 1)).toWellFormed()
    })
  return fc.oneof(
    { arbitrary: valid, weight: 3 },
    { arbitrary: nearlyValid, weight: 2 },
    { arbitrary: fc.constantFrom(...hostileTexts), weight: 1 },
  )
}

export type Pair = readonly [name: string, value: string]

/** No, one or several pairs of a parameter. paging.test.ts tests cursors. */
export function pairsOf(
  { name, required, schema }: DocumentedParameter,
  textsFrom: (schema: Schema) => fc.Arbitrary<string>,
  manyMax: number,
): fc.Arbitrary<Pair[]> {
  if (name === 'page_cursor') return fc.boolean().map((given) => (given ? [[name, '']] : []))
  const isArray = schema.items !== undefined
  const values = fc.array(textsFrom(schema.items ?? schema), {
    minLength: 1,
    maxLength: isArray ? manyMax : manyMax > 5 ? 2 : 1,
  })
  const pairs = values.map((texts) => texts.map((text) => [name, text] as const))
  return required ? pairs : fc.oneof({ arbitrary: fc.constant<Pair[]>([]), weight: 2 }, pairs)
}

export const queryOf = (pairs: readonly Pair[]): string =>
  pairs.map((pair) => pair.map(encodeURIComponent).join('=')).join('&')

/** Malformed pieces of a query, and unknown parameters. */
export const oddPieces = fc.constantFrom(
  '',
  '&&&',
  '&%zz=1',
  '&x=%',
  '&=',
  '&limit',
  '&limit[]=5',
  '&ids[0][a]=b',
  '&toString=1',
  '&limit=5;order=ASC',
  '&x=%ff',
  '&unknown=1',
  '#fragment',
  '?limit=1',
)
