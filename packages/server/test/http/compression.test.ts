import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib'
import type { Answer } from '@bursar/contract'
import { describeService } from '../../../../test/support/describe-service.ts'
import { acme, borealis } from '../../../../test/support/harness.ts'
import { rawRequest } from '../../../../test/support/raw-request.ts'
import { openCompression } from '../../src/server/compress.ts'
import { type Coding, negotiateCoding } from '../../src/server/content-coding.ts'

const codings: readonly Coding[] = ['zstd', 'br', 'gzip']
const decoders = { zstd: zstdDecompressSync, br: brotliDecompressSync, gzip: gunzipSync }

describe('the coding of an answer', () => {
  test('is the one that Accept-Encoding weights highest', () => {
    const cases: readonly (readonly [string | undefined, Coding | undefined])[] = [
      [undefined, undefined],
      ['', undefined],
      ['gzip', 'gzip'],
      ['GZip', 'gzip'],
      ['x-gzip', 'gzip'],
      ['gzip, deflate, br, zstd', 'zstd'],
      ['gzip, deflate, br', 'br'],
      ['zstd;q=0.5, br;q=0.8, gzip;q=0.8', 'br'],
      ['gzip;q=1.0, br;q=0.999', 'gzip'],
      ['gzip \t; \t Q=0.001', 'gzip'],
      ['gzip;q=0', undefined],
      ['gzip;q=0.000, br', 'br'],
      ['*', 'gzip'],
      ['zstd;q=0, *', 'gzip'],
      ['br, *', 'br'],
      ['br;q=0.5, *', 'gzip'],
      ['gzip;q=0, *', undefined],
      ['*;q=0', undefined],
      ['gzip, *;q=0', 'gzip'],
      ['*;q=0.5, gzip', 'gzip'],
      ['identity', undefined],
      ['identity, gzip;q=0.5', undefined],
      ['identity;q=0.5, gzip;q=0.5', 'gzip'],
      ['identity;q=0', undefined],
      ['identity;q=0, gzip;q=0.1', 'gzip'],
      ['deflate', undefined],
      ['gzip;q=2', undefined],
      ['gzip;q=0.1234', undefined],
      ['gzip;q=-1, br;q=x, zstd;q', undefined],
      ['gzip;level=9', undefined],
      [',, gzip ,', 'gzip'],
      [`${'x,'.repeat(200)}gzip`, undefined],
    ]
    for (const [header, expected] of cases) {
      assert.equal(negotiateCoding(header, codings), expected, `${header}`)
    }
    assert.equal(negotiateCoding('zstd, br;q=0.1', ['gzip', 'br']), 'br')
    assert.equal(negotiateCoding('gzip', []), undefined)
  })
})

describe('compression', () => {
  const page = (more: Partial<Answer> = {}): Answer => ({
    status: 200,
    headers: { etag: 'W/"1"' },
    body: Buffer.alloc(1024, 'abc'),
    ...more,
  })

  test('gives a lent buffer back when zlib has read it, and not before', async () => {
    for (const coding of codings) {
      const body = Buffer.alloc(100_000, 'abc')
      let sent = 0
      const sending = openCompression()(page({ body, sent: () => sent++ }), coding)
      assert.equal(sent, 0, coding)
      const answer = await sending
      assert.equal(sent, 1, coding)
      body.fill('x')
      assert.equal(answer.sent, undefined, coding)
      assert.ok(answer.body instanceof Uint8Array, coding)
      assert.deepEqual(decoders[coding](answer.body), Buffer.alloc(100_000, 'abc'), coding)
    }
  })

  test('leaves small, coded and strongly tagged answers as they are', () => {
    const compress = openCompression()
    for (const answer of [
      page({ body: Buffer.alloc(1023, 'abc') }),
      page({ body: 'é'.repeat(511) }),
      page({ status: 304, body: undefined }),
      page({ headers: { 'content-encoding': 'gzip' } }),
      page({ headers: { etag: '"1"' } }),
    ]) {
      assert.equal(compress(answer, 'gzip'), answer)
    }
  })

  test('past its bound of bytes leaves answers as they are until others are done', async () => {
    const compress = openCompression(2048)
    const two = [compress(page(), 'gzip'), compress(page(), 'br')]
    const third = page()
    assert.equal(compress(third, 'gzip'), third)
    for (const answer of two) assert.notEqual((await answer).headers['content-encoding'], undefined)
    assert.equal((await compress(third, 'gzip')).headers['content-encoding'], 'gzip')
  })
})

describe('an answer of the service', () => {
  const service = describeService()

  const path = '/v2/transfer/fiat-accounts?limit=1000'
  const call = (acceptEncoding: string, more: { as?: typeof acme; method?: string } = {}) =>
    service.call(path, { ...more, headers: { 'accept-encoding': acceptEncoding } })

  test('is compressed in each coding, under the tag of the plain page', async () => {
    const plain = await call('identity')
    assert.equal(plain.headers.get('content-encoding'), null)
    for (const coding of codings) {
      const answer = await call(coding)
      assert.equal(answer.status, 200, coding)
      assert.equal(answer.headers.get('content-encoding'), coding)
      assert.equal(answer.headers.get('content-type'), 'application/json', coding)
      assert.equal(answer.headers.get('etag'), plain.headers.get('etag'), coding)
      assert.deepEqual(answer.body.items, plain.body.items, coding)
      const length = Number(answer.headers.get('content-length'))
      assert.ok(length < plain.text.length / 7, `${coding}: ${length}`)
      const head = await call(coding, { method: 'HEAD' })
      assert.equal(head.headers.get('content-encoding'), coding)
      assert.equal(head.text, '')
    }
  })

  test('varies by Accept-Encoding in every size and status', async () => {
    const etag = (await call('gzip')).headers.get('etag') ?? ''
    for (const [expected, sent, headers] of [
      [200, path, {}],
      [200, path, { 'accept-encoding': 'br' }],
      [304, path, { 'if-none-match': etag, 'accept-encoding': 'gzip' }],
      [200, '/healthz', { 'accept-encoding': 'gzip' }],
      [404, '/nowhere', { 'accept-encoding': 'gzip' }],
    ] as const) {
      const answer = await service.call(sent, { headers })
      assert.equal(answer.status, expected, sent)
      assert.equal(answer.headers.get('vary'), 'accept-encoding', sent)
      if (expected !== 200) assert.equal(answer.headers.get('content-encoding'), null, sent)
    }
  })

  test('without Accept-Encoding is not compressed', async () => {
    const headers = ['authorization', `Bearer ${await service.tokenOf(acme)}`]
    const answer = await rawRequest(service.url, path, { headers })
    assert.equal(answer.headers['content-encoding'], undefined)
    assert.equal(JSON.parse(answer.text).items.length, 1000)
  })

  test('is a compressed problem when it has many faults', async () => {
    const bounds = ['lt', 'lte', 'eq', 'gte', 'gt'].map((name) => `created_at.${name}=x`)
    const answer = await service.call(`/v2/transfer/fiat-accounts?${bounds.join('&')}`, {
      headers: { 'accept-encoding': 'gzip' },
    })
    assert.equal(answer.status, 400)
    assert.equal(answer.headers.get('content-encoding'), 'gzip')
    assert.equal(answer.body.meta.errors.length, 5)
  })

  test('holds its own customer’s records while many are compressed at once', async () => {
    const expected = new Map(
      await Promise.all(
        [acme, borealis].map(async (as) => [as, (await call('identity', { as })).text] as const),
      ),
    )
    const itemsOf = (text: string) => text.slice(0, text.lastIndexOf(']'))
    const all = Array.from({ length: 16 }, async (_, at) => {
      const as = at % 2 === 0 ? acme : borealis
      const coding = ['zstd', 'br', 'gzip', 'identity'][at % 4] ?? ''
      const { text } = await call(coding, { as })
      assert.equal(itemsOf(text) === itemsOf(expected.get(as) ?? ''), true, `${coding} ${at}`)
    })
    await Promise.all(all)
  })
})
