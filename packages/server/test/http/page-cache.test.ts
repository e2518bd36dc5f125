import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { openPageCache } from '../../src/pipeline/page-cache.ts'
import { openCompression } from '../../src/server/compress.ts'

const pageOf = (body: string) => ({
  answer: { status: 200, headers: { etag: 'W/"1"' }, body: Buffer.from(body) },
  rows: 3,
  ignored: ['page'],
})

const kept = (cache: ReturnType<typeof openPageCache>, key: string) =>
  cache.find(key)?.answer.body?.toString()

describe('the page cache', () => {
  test('keeps a copy of a page from its second request on', () => {
    const cache = openPageCache(10_000)
    const page = pageOf('first')
    cache.keep('a', page)
    assert.equal(kept(cache, 'a'), undefined)
    cache.keep('a', page)
    page.answer.body.fill('x')
    assert.equal(kept(cache, 'a'), 'first')
    assert.equal(cache.find('a')?.rows, 3)
    assert.deepEqual(cache.find('a')?.ignored, ['page'])
    cache.keep('a', pageOf('second'))
    assert.equal(kept(cache, 'a'), 'second')
  })

  test('forgets the pages used least recently, so that its bytes stay bounded', () => {
    const cache = openPageCache(10_000)
    const body = 'x'.repeat(3000)
    for (const key of ['a', 'b', 'a', 'b']) cache.keep(key, pageOf(body))
    assert.deepEqual([kept(cache, 'a'), kept(cache, 'b')], [body, body])
    cache.find('a')
    for (const key of ['c', 'c']) cache.keep(key, pageOf(body))
    assert.deepEqual(
      [kept(cache, 'a'), kept(cache, 'b'), kept(cache, 'c')],
      [body, undefined, body],
    )
    for (const key of ['d', 'd']) cache.keep(key, pageOf('x'.repeat(20_000)))
    assert.deepEqual(
      ['a', 'c', 'd'].map((key) => cache.find(key)),
      [undefined, undefined, undefined],
    )
  })

  test('counts keys that were requested once, and forgets the oldest of them', () => {
    const cache = openPageCache(10_000)
    cache.keep('first', pageOf('first'))
    for (let at = 0; at < 100; at += 1) cache.keep(`key ${at}`, pageOf('other'))
    cache.keep('first', pageOf('first'))
    assert.equal(kept(cache, 'first'), undefined)
  })

  test('keeps compressed bodies with the page, and counts them', async () => {
    const cache = openPageCache(20_000)
    const body = JSON.stringify(Array.from({ length: 500 }, (_, at) => `record ${at % 7}`))
    for (const _time of [1, 2]) cache.keep('a', pageOf(body))
    const compress = openCompression()
    const answer = cache.find('a')?.answer ?? assert.fail()
    const first = await compress(answer, 'gzip')
    const second = compress(answer, 'gzip')
    assert.ok(!(second instanceof Promise))
    assert.equal(second.body, first.body)
    assert.equal(second.headers['content-encoding'], 'gzip')
    assert.notEqual((await compress(answer, 'br')).body, first.body)
    const bytes = Buffer.byteLength(body)
    for (const _time of [1, 2]) cache.keep('b', pageOf('x'.repeat(19_000 - bytes)))
    assert.equal(cache.find('a'), undefined)
  })
})
