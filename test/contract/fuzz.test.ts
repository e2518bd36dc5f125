import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import { worldRecords } from '../../src/sandbox/world.ts'
import {
  type Document,
  type DocumentedParameter,
  openDocumentChecker,
  resolveSchema,
  type Schema,
} from '../support/documented.ts'
import { acme, startTestService, type TestService } from '../support/harness.ts'
import { isLong } from '../support/long.ts'
import { type RawAnswer, rawRequest } from '../support/raw-request.ts'

/**
 * Generates valid, nearly valid and hostile requests from the served OpenAPI document, and checks
 * every answer against it. The seed is fixed, so that a failure is reproducible.
 */

const runs = { seed: 20_261_121, numRuns: isLong ? 20_000 : 100 }

// The long run takes longer than a token lives by default.
const service: TestService = await startTestService({ env: { BURSAR_TOKEN_LIFE_SECONDS: '3600' } })
const document: Document = (await service.call('/openapi.json', { as: null })).body
const check = openDocumentChecker(document)
let bearer = ''

before(async () => {
  bearer = `Bearer ${await service.tokenOf(acme)}`
})
after(() => service.stop())

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

const storedIds = Object.values(worldRecords()).flatMap((records) =>
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
function validTexts(schema: Schema): fc.Arbitrary<string> {
  const { type, format, enum: members, minimum, maximum } = resolveSchema(document, schema)
  if (members !== undefined) return fc.constantFrom(...members)
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
function anyTexts(schema: Schema): fc.Arbitrary<string> {
  const valid = validTexts(schema)
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

type Pair = readonly [name: string, value: string]

/** No, one or several pairs of a parameter. paging.test.ts tests cursors. */
function pairsOf(
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

const queryOf = (pairs: readonly Pair[]): string =>
  pairs.map((pair) => pair.map(encodeURIComponent).join('=')).join('&')

/** Malformed pieces of a query, and unknown parameters. */
const oddPieces = fc.constantFrom(
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

function pathOf(path: string, id: string, query: string): string {
  const filled = path.replace('{id}', encodeURIComponent(id))
  return query === '' ? filled : `${filled}?${query}`
}

const send = (path: string, headers: readonly string[] = []): Promise<RawAnswer> =>
  rawRequest(service.url, path, { headers: ['authorization', bearer, ...headers] })

for (const [path, methods] of Object.entries(document.paths)) {
  for (const [method, operation] of Object.entries(methods)) {
    // A write takes a body, which this test does not generate.
    if (method !== 'get') continue
    const idSchema = operation.parameters.find((parameter) => parameter.in === 'path')?.schema
    const inQuery = operation.parameters.filter((parameter) => parameter.in === 'query')
    const ids = (textsFrom: typeof validTexts) =>
      idSchema === undefined ? fc.constant('') : textsFrom(idSchema)

    test(`${operation.operationId} accepts every request that its document allows`, async () => {
      const pairs = fc.tuple(...inQuery.map((parameter) => pairsOf(parameter, validTexts, 4)))
      await fc.assert(
        fc.asyncProperty(pairs, ids(validTexts), async (query, id) => {
          const sent = pathOf(path, id, queryOf(query.flat()))
          const answer = await send(sent)
          assert.ok([200, 404].includes(answer.status), answer.text)
          check(operation, sent, answer)
        }),
        runs,
      )
    })

    test(`${operation.operationId} answers every other request as documented`, async () => {
      const pairs = fc.tuple(...inQuery.map((parameter) => pairsOf(parameter, anyTexts, 6)))
      await fc.assert(
        fc.asyncProperty(pairs, ids(anyTexts), oddPieces, async (query, id, odd) => {
          const sent = pathOf(path, id, `${queryOf(query.flat())}${odd}`)
          check(operation, sent, await send(sent))
        }),
        runs,
      )
    })

    test(`${operation.operationId} answers as documented whatever the headers are`, async () => {
      const names = fc.constantFrom(
        'accept',
        'accept-encoding',
        'if-none-match',
        'x-request-id',
        'range',
        'content-type',
        'origin',
        'x-forwarded-for',
        'cookie',
        'expect',
        'prefer',
      )
      const values = fc.oneof(
        fc.string({
          unit: fc.integer({ min: 0x20, max: 0x7e }).map((code) => String.fromCharCode(code)),
          maxLength: 60,
        }),
        fc.constantFrom('*', 'W/"x"', '"x"', 'text/html', 'gzip', 'bytes=0-1', '*/*;q=0', '\u00ff'),
      )
      const headers = fc.array(fc.tuple(names, values), { maxLength: 4 })
      await fc.assert(
        fc.asyncProperty(headers, async (pairs) => {
          const kept = pairs.filter(([name]) => name !== 'expect')
          const required = inQuery.some(({ name }) => name === 'customer_id')
          const sent = pathOf(path, storedIds[0] ?? '', required ? 'customer_id=acme' : '')
          check(operation, sent, await send(sent, kept.flat()))
        }),
        { ...runs, numRuns: Math.ceil(runs.numRuns / 5) },
      )
    })
  }
}

test('every page of the sandbox has the documented shape', async () => {
  for (const [path, { get: operation }] of Object.entries(document.paths)) {
    if (operation === undefined || path.includes('{id}')) continue
    let cursor: string | undefined = ''
    while (cursor !== undefined) {
      const query = `customer_id=acme&include_deleted=true&limit=500&page_cursor=${cursor}`
      const answer = await send(`${path}?${query}`)
      check(operation, path, answer)
      cursor = JSON.parse(answer.text).next_page_cursor
    }
  }
})
