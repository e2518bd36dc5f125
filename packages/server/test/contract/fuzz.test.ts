import assert from 'node:assert/strict'
import { after, before, mock, test } from 'node:test'
import fc from 'fast-check'
import {
  type Document,
  openDocumentChecker,
  type Schema,
} from '../../../../test/support/documented.ts'
import {
  anyTexts,
  oddPieces,
  type Pair,
  pairsOf,
  queryOf,
  storedIds,
  validTexts,
} from '../../../../test/support/generated-requests.ts'
import { acme, startTestService, type TestService } from '../../../../test/support/harness.ts'
import { isLong } from '../../../../test/support/long.ts'
import { type RawAnswer, rawRequest } from '../../../../test/support/raw-request.ts'
import { setLimits } from '../../../../test/support/set-limits.ts'

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

// A wait for events may end early by chance: here all of it, so that nothing waits for real time.
setLimits({ after }, { eventsWaitSpread: 1 })
const chance = mock.method(Math, 'random', () => 1)
after(() => chance.mock.restore())

const valid = (schema: Schema) => validTexts(document, schema)
const any = (schema: Schema) => anyTexts(document, schema)

function pathOf(path: string, id: string, query: string): string {
  const filled = path.replace('{id}', encodeURIComponent(id))
  return query === '' ? filled : `${filled}?${query}`
}

const send = (path: string, headers: readonly string[] = []): Promise<RawAnswer> =>
  rawRequest(service.url, path, { headers: ['authorization', bearer, ...headers] })

/** A time in the future is a 400, and one from before the records are kept a 410. */
function isExpected({ status, text }: RawAnswer, query: readonly Pair[]): boolean {
  const [, asOf] = query.find(([name]) => name === 'as_of') ?? []
  if (asOf === undefined) return [200, 404].includes(status)
  const isFuture = text.includes('as_of must not be in the future')
  // A customer without records of the kind, such as another one that the query names, has 200.
  return status === 400 ? isFuture : [200, 404, 410].includes(status)
}

for (const [path, methods] of Object.entries(document.paths)) {
  for (const [method, operation] of Object.entries(methods)) {
    // A write takes a body, which this test does not generate.
    if (method !== 'get') continue
    const idSchema = operation.parameters.find((parameter) => parameter.in === 'path')?.schema
    const inQuery = operation.parameters.filter((parameter) => parameter.in === 'query')
    const ids = (textsFrom: typeof valid) =>
      idSchema === undefined ? fc.constant('') : textsFrom(idSchema)

    test(`${operation.operationId} accepts every request that its document allows`, async () => {
      const pairs = fc.tuple(...inQuery.map((parameter) => pairsOf(parameter, valid, 4)))
      await fc.assert(
        fc.asyncProperty(pairs, ids(valid), async (query, id) => {
          const sent = pathOf(path, id, queryOf(query.flat()))
          const answer = await send(sent)
          assert.ok(isExpected(answer, query.flat()), answer.text)
          check(operation, sent, answer)
        }),
        runs,
      )
    })

    test(`${operation.operationId} answers every other request as documented`, async () => {
      const pairs = fc.tuple(...inQuery.map((parameter) => pairsOf(parameter, any, 6)))
      await fc.assert(
        fc.asyncProperty(pairs, ids(any), oddPieces, async (query, id, odd) => {
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
