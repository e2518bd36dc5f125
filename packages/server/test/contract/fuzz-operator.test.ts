import assert from 'node:assert/strict'
import { test } from 'node:test'
import { operatorScopes } from '@bursar/contract'
import fc from 'fast-check'
import { documents } from '../../../../test/support/check-answers.ts'
import {
  type Document,
  type DocumentedOperation,
  resolveSchema,
} from '../../../../test/support/documented.ts'
import {
  anyTexts,
  oddPieces,
  pairsOf,
  queryOf,
  validTexts,
} from '../../../../test/support/generated-requests.ts'
import { isLong } from '../../../../test/support/long.ts'
import { operatorToken } from '../../../../test/support/operator-token.ts'
import { rawRequest } from '../../../../test/support/raw-request.ts'
import { describeSandbox } from '../../../../test/support/sandbox-control.ts'

/**
 * Generates requests from the documents of the operator's API and of the sandbox. `rawRequest`
 * checks each answer against its document. The seed is fixed, so that a failure is reproducible.
 */

const runs = { seed: 20_261_123, numRuns: isLong ? 2000 : 12 }

/** A reset imports all sample records again, which takes a second. */
const slowRuns = { ...runs, numRuns: isLong ? 20 : 1 }

let bearer = ''
const sandbox = describeSandbox({ env: { BURSAR_TOKEN_LIFE_SECONDS: '3600' } }, async () => {
  bearer = `Bearer ${await operatorToken(sandbox, 'core', operatorScopes)}`
})

const conditions = fc.constantFrom(
  [],
  ['if-match', '*'],
  ['if-match', '"x", W/"y"'],
  ['if-match', 'x'],
  ['if-none-match', '*'],
  ['idempotency-key', 'one'],
  ['idempotency-key', 'a b'],
  ['access-reason', 'ticket'],
  ['content-encoding', 'gzip'],
  ['content-encoding', 'br'],
  ['content-type', 'text/html'],
)

/** A body of the operation's own members, any JSON, or bytes that are no JSON. */
function bodiesOf(document: Document, { requestBody }: DocumentedOperation): fc.Arbitrary<Buffer> {
  const [content] = Object.values(requestBody?.content ?? {})
  const shape = content === undefined ? undefined : resolveSchema(document, content.schema)
  const members = Object.entries(shape?.properties ?? {}).map(([name, schema]) => {
    const texts = fc.oneof(validTexts(document, schema), anyTexts(document, schema))
    return [name, fc.oneof({ arbitrary: texts, weight: 4 }, fc.jsonValue({ maxDepth: 2 }))] as const
  })
  const own = fc.record(Object.fromEntries(members), { requiredKeys: [] })
  const texts = fc.oneof(
    own.map((value) => JSON.stringify(value)),
    fc.array(own, { maxLength: 3 }).map((all) => all.map((one) => JSON.stringify(one)).join('\n')),
    fc.json(),
    fc.constantFrom(
      '',
      ' ',
      '\n\n',
      '{',
      '[',
      'null',
      '[{}]',
      '{"a":1,"a":2}',
      '<xml/>',
      '\ufeff{}',
    ),
  )
  return fc.oneof(
    { arbitrary: texts.map((text) => Buffer.from(text)), weight: 9 },
    fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes)),
  )
}

for (const document of [documents.ingest, documents.sandbox]) {
  for (const [path, methods] of Object.entries(document.paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      test(`${operation.operationId} answers every generated request as documented`, async () => {
        const inPath = operation.parameters.filter((parameter) => parameter.in === 'path')
        const inQuery = operation.parameters.filter((parameter) => parameter.in === 'query')
        const texts = (schema: Parameters<typeof anyTexts>[1]) =>
          fc.oneof(validTexts(document, schema), anyTexts(document, schema))
        const values = fc.tuple(...inPath.map(({ schema }) => texts(schema)))
        const pairs = fc.tuple(...inQuery.map((parameter) => pairsOf(parameter, texts, 3)))
        const odd = fc.oneof({ arbitrary: fc.constant(''), weight: 3 }, oddPieces)
        const request = fc.record({
          values,
          pairs,
          odd,
          headers: conditions,
          body: bodiesOf(document, operation),
        })
        await fc.assert(
          fc.asyncProperty(request, async (sent) => {
            const filled = inPath.reduce(
              (text, { name }, at) =>
                text.replace(`{${name}}`, encodeURIComponent(sent.values[at] ?? '')),
              path,
            )
            const target = `${filled}?${queryOf(sent.pairs.flat())}${sent.odd}`
            const answer = await rawRequest(sandbox.url, target, {
              method: method.toUpperCase(),
              headers: ['authorization', bearer, ...sent.headers],
              ...(method !== 'get' && { body: sent.body }),
            })
            assert.ok(answer.status < 500, `${target}: ${answer.text}`)
          }),
          operation.operationId === 'sandboxReset' ? slowRuns : runs,
        )
      })
    }
  }
}
