import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib'
import type { PublicDocument, Request } from '@bursar/contract'
import { describeService } from '../../../../test/support/describe-service.ts'
import { rawRequest } from '../../../../test/support/raw-request.ts'
import { staticDocument } from '../../src/documents/static-document.ts'

const decode = {
  br: brotliDecompressSync,
  zstd: zstdDecompressSync,
  gzip: gunzipSync,
}

describe('the public documents of a service', () => {
  const service = describeService()

  const get = (path: string, ...headers: string[]) => rawRequest(service.url, path, { headers })

  for (const [path, type] of [
    ['/openapi.json', 'application/json'],
    ['/ingest/v1/openapi.json', 'application/json'],
    ['/.well-known/oauth-authorization-server', 'application/json'],
    ['/.well-known/jwks.json', 'application/json'],
    ['/problems', 'text/html; charset=utf-8'],
    ['/problems/fee-expired', 'text/html; charset=utf-8'],
  ] as const) {
    test(`${path} is compressed on request, and is 304 to its own ETag`, async () => {
      const plain = await get(path)
      const { etag = '', vary } = plain.headers
      assert.equal(plain.status, 200)
      assert.equal(plain.headers['content-type'], type)
      assert.equal(plain.headers['content-encoding'], undefined)
      assert.match(String(plain.headers['cache-control']), /^public, max-age=\d+/)
      assert.match(etag, /^W\/"[\w-]{27}"$/)
      assert.equal(vary, 'accept-encoding')
      for (const [coding, decoded] of Object.entries(decode)) {
        const coded = await get(path, 'accept-encoding', coding)
        if (plain.bytes.length < 1024) {
          assert.equal(coded.headers['content-encoding'], undefined, coding)
          continue
        }
        assert.equal(coded.headers['content-encoding'], coding)
        assert.equal(coded.headers.etag, etag, coding)
        assert.equal(coded.headers['content-length'], String(coded.bytes.length), coding)
        assert.ok(coded.bytes.length < plain.bytes.length * 0.7, coding)
        assert.ok(decoded(coded.bytes).equals(plain.bytes), coding)
      }
      const known = await get(path, 'if-none-match', `"other", ${etag}`, 'accept-encoding', 'br')
      assert.equal(known.status, 304)
      assert.equal(known.bytes.length, 0)
      assert.equal(known.headers.etag, etag)
      assert.equal(known.headers['content-encoding'], undefined)
    })
  }
})

describe('a static document', () => {
  const request = (headers: Readonly<Record<string, string>> = {}): Request => ({
    method: 'GET',
    path: '/x',
    rawQuery: '',
    parameters: {},
    rawHeaders: [],
    headers,
    body: Buffer.alloc(0),
    connection: {},
    address: '127.0.0.1',
    id: 'x',
    left: () => AbortSignal.any([]),
    rest: () => () => {},
    trace: {},
  })
  const document = (body: PublicDocument['body'], changes?: true): PublicDocument => ({
    path: '/x',
    operation: 'x',
    contentType: 'text/plain',
    cacheControl: 'no-cache',
    ...(changes && { changes }),
    body,
  })

  test('is made once, however many requests arrive before it is ready', async () => {
    let made = 0
    const { answer } = staticDocument(
      document(() => {
        made += 1
        return 'x'.repeat(2000)
      }),
    )
    const codings = ['', 'gzip', 'br', 'zstd']
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, at) =>
        answer(request({ 'accept-encoding': codings[at % 4] ?? '' })),
      ),
    )
    assert.equal(made, 1)
    // The same bytes in memory, so nothing was compressed twice.
    assert.equal(new Set(answers.map(({ body }) => body)).size, 4)
  })

  test('is made again after it could not be', async () => {
    let tries = 0
    const { answer } = staticDocument(
      document(() => {
        tries += 1
        if (tries === 1) throw new Error('not yet')
        return 'text'
      }),
    )
    await assert.rejects(async () => answer(request()), /not yet/)
    assert.equal(String((await answer(request())).body), 'text')
  })

  test('that may change has a new tag with its new text, and is not compressed until then', async () => {
    let text = 'a'.repeat(2000)
    const { answer } = staticDocument(document(() => text, true))
    const ask = () => answer(request({ 'accept-encoding': 'gzip' }))
    const [first, second] = [await ask(), await ask()]
    assert.equal(first.body, second.body)
    text = 'b'.repeat(2000)
    const third = await ask()
    assert.notEqual(third.headers.etag, first.headers.etag)
    assert.equal(String(gunzipSync(third.body as Uint8Array)), text)
  })
})
