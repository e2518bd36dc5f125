import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { ListOperation } from '@bursar/contract'
import { assertParameterErrors } from '../../../../test/support/assert-answer.ts'
import { describeService } from '../../../../test/support/describe-service.ts'
import { acme, borealis, type Called } from '../../../../test/support/harness.ts'
import { isLong } from '../../../../test/support/long.ts'
import { gets, lists, type Pairs, pathOf } from '../../../../test/support/operation-calls.ts'
import { type Item, itemsOf, readAllPages } from '../../../../test/support/read-all-pages.ts'

const service = describeService()

const sortMember = (list: ListOperation): string =>
  list.id === 'listStatements' ? 'period_start' : 'created_at'

/** Pads a time to six fraction digits, so that texts sort as times do. */
function sortable(printed: unknown): string {
  const [whole = '', fraction = ''] = String(printed).replace('Z', '').split('.')
  return `${whole}.${fraction.padEnd(6, '0')}`
}

/** Filters that match several pages of Acme's records. */
const filtersOf = (list: ListOperation): readonly Pairs[] => [
  [],
  ...(list.id === 'listFiatAccounts' ? [[['include_deleted', 'true']] as Pairs] : []),
  ...(list.id === 'listDepositAddresses'
    ? [
        [
          ['networks', 'BITCOIN'],
          ['networks', 'XLAYER'],
        ] as Pairs,
      ]
    : []),
  ...(list.id === 'listIssuerQuoteExecutions'
    ? [
        [
          ['status', 'FAILED'],
          ['status', 'PENDING'],
        ] as Pairs,
      ]
    : []),
  ...(list.id === 'listStatements' ? [[['statuses', 'STATEMENT_STATUS_PAID']] as Pairs] : []),
  ...('created_at.lt' in list.query ? [[['created_at.lt', '2026-09-01T00:00:00Z']] as Pairs] : []),
]

const instanceOf = (list: ListOperation): string => list.path
const refusedCursor = [['page_cursor', 'token cannot be parsed']] as const

function assertCursorFault(
  called: Called,
  list: ListOperation,
  reason: string,
  given: string,
): void {
  const detail = 'page_cursor token cannot be parsed'
  assertParameterErrors(called, instanceOf(list), [['page_cursor', reason]], given, detail)
}

async function firstCursor(list: ListOperation, query: Pairs = [], as = acme): Promise<string> {
  const path = pathOf(list, [['limit', '2'], ...query], as.customerId)
  const called = await service.call(path, { as })
  assert.equal(typeof called.body.next_page_cursor, 'string', called.text)
  return called.body.next_page_cursor
}

for (const list of lists) {
  describe(list.id, () => {
    test('orders records of equal time by id in the same direction', async () => {
      const { items } = await readAllPages(service, list)
      const member = sortMember(list)
      const keys = items.map((item) => `${sortable(item[member])} ${item.id}`)
      assert.deepEqual(keys, keys.toSorted().toReversed())
      assert.equal(new Set(keys).size, keys.length)
      assert.ok(
        new Set(items.map((item) => item[member])).size < items.length,
        'the sandbox has no two records of equal time',
      )
    })

    test('answers newest first by default, and ASC in exactly the reverse order', async () => {
      for (const query of filtersOf(list)) {
        const { items } = await readAllPages(service, list, query)
        const descending = await readAllPages(service, list, [...query, ['order', 'DESC']])
        const ascending = await readAllPages(service, list, [...query, ['order', 'ASC']])
        assert.deepEqual(descending.items, items, String(query))
        assert.deepEqual(ascending.items, items.toReversed(), String(query))
      }
    })

    test('answers the same records at every page size, with every page but the last full', async () => {
      for (const query of filtersOf(list)) {
        for (const order of ['DESC', 'ASC']) {
          const ordered: Pairs = [...query, ['order', order]]
          const { items: all } = await readAllPages(service, list, ordered)
          const half = Math.ceil(all.length / 2)
          const more = order === 'DESC' || isLong ? [100, all.length, all.length + 1] : []
          for (const limit of [37, half, ...more].filter((size) => size >= 1 && size <= 1000)) {
            const { items, pageSizes } = await readAllPages(service, list, ordered, { limit })
            const given = `${query} ${order} limit=${limit}`
            assert.deepEqual(items, all, given)
            assert.ok(
              pageSizes.slice(0, -1).every((size) => size === limit),
              given,
            )
            assert.equal(pageSizes.length, Math.max(1, Math.ceil(all.length / limit)), given)
          }
        }
      }
    })

    test('answers the same records with one record a page', async () => {
      const { items: all } = await readAllPages(service, list, [], { as: borealis })
      const { items, pageSizes } = await readAllPages(service, list, [], { as: borealis, limit: 1 })
      assert.deepEqual(items, all)
      assert.equal(pageSizes.length, all.length)
    })

    test('answers 100 records by default', async () => {
      const called = await service.call(pathOf(list))
      const { items } = await readAllPages(service, list, [], { limit: 100 })
      assert.deepEqual(itemsOf(list, called), items.slice(0, 100))
    })

    test('omits the cursor on the last page, even when that page is full', async () => {
      const { items } = await readAllPages(service, list, [], { as: borealis })
      const called = await service.call(
        pathOf(list, [['limit', String(items.length)]], 'borealis'),
        { as: borealis },
      )
      assert.deepEqual(called.body, { [list.envelope]: items })
    })

    test('answers an empty array when nothing matches', async () => {
      const called = await service.call(pathOf(list, [['ref_ids', 'nobody’s']]))
      assert.equal(called.status, 200)
      assert.equal(called.text, `{"${list.envelope}":[]}`)
    })

    test('accepts another limit on each page', async () => {
      const { items: all } = await readAllPages(service, list)
      const limits = [1, 3, 2, 50, 1]
      const found: Item[] = []
      let cursor = ''
      for (const limit of limits) {
        const called = await service.call(
          pathOf(list, [
            ['limit', String(limit)],
            ['page_cursor', cursor],
          ]),
        )
        found.push(...itemsOf(list, called))
        cursor = called.body.next_page_cursor
      }
      assert.deepEqual(found, all.slice(0, 57))
    })

    test('answers cursors that disclose nothing and need no escaping', async () => {
      const called = await service.call(pathOf(list, [['limit', '2']]))
      const cursor: string = called.body.next_page_cursor
      const last = itemsOf(list, called).at(-1)
      assert.match(cursor, /^[A-Za-z0-9_-]+$/)
      const bytes = Buffer.from(cursor, 'base64url').toString('latin1')
      const id = Buffer.from(String(last?.id).replaceAll('-', ''), 'hex').toString('latin1')
      assert.equal(bytes.includes(id), false)
      assert.equal(bytes.includes(String(last?.id)), false)
      assert.equal(bytes.includes('acme'), false)
    })

    test('accepts a cursor more than once', async () => {
      const cursor = await firstCursor(list)
      const query: Pairs = [
        ['limit', '2'],
        ['page_cursor', cursor],
      ]
      const once = await service.call(pathOf(list, query))
      const twice = await service.call(pathOf(list, query))
      assert.deepEqual(itemsOf(list, twice), itemsOf(list, once))
    })

    test('accepts a cursor when the same filter values come in another order', async () => {
      const [a = '', b = ''] = (await readAllPages(service, list)).items.flatMap(({ ref_id }) =>
        typeof ref_id === 'string' ? [ref_id] : [],
      )
      const refs = (...given: string[]): Pairs => given.map((ref) => ['ref_ids', ref] as const)
      const called = await service.call(pathOf(list, [['limit', '1'], ...refs(a, b)]))
      const cursor: string = called.body.next_page_cursor
      for (const same of [refs(a, b), refs(b, a), refs(a, b, a)]) {
        const next = await service.call(pathOf(list, [...same, ['page_cursor', cursor]]))
        assert.equal(next.status, 200, String(same))
        assert.deepEqual(itemsOf(list, next)[0]?.ref_id, b, String(same))
      }
    })

    test('refuses a cursor under another order or other filters, and says which', async () => {
      const order = 'was issued for the other order'
      const filters = 'was issued for other filters'
      const assertRefused = async (issuedFor: Pairs, used: Pairs, reason: string) => {
        const cursor = await firstCursor(list, issuedFor)
        const called = await service.call(pathOf(list, [...used, ['page_cursor', cursor]]))
        assertCursorFault(called, list, reason, `${issuedFor} -> ${used}`)
      }
      await assertRefused([], [['order', 'ASC']], order)
      await assertRefused([['order', 'ASC']], [], order)
      await assertRefused([], [['ref_ids', 'some-ref']], filters)
      for (const query of filtersOf(list).slice(1)) {
        await assertRefused(query, [], filters)
        await assertRefused([], query, filters)
      }
    })

    test('refuses a cursor of another list, and says so', async () => {
      const cursor = await firstCursor(list)
      for (const other of lists.filter(({ id }) => id !== list.id)) {
        const called = await service.call(pathOf(other, [['page_cursor', cursor]]))
        assertCursorFault(called, other, 'was issued by another list', other.id)
      }
    })

    test('refuses a cursor of another customer', async () => {
      const cursor = await firstCursor(list, [], borealis)
      const called = await service.call(pathOf(list, [['page_cursor', cursor]]))
      assertParameterErrors(called, instanceOf(list), refusedCursor)
    })

    test('refuses text that was never a cursor', async () => {
      const forged = Buffer.from('{"after":"2026-01-01T00:00:00Z"}').toString('base64url')
      for (const candidate of ['0', 'null', 'AA', forged, 'A'.repeat(5000), '‮', '../..']) {
        const called = await service.call(pathOf(list, [['page_cursor', candidate]]))
        assertParameterErrors(called, instanceOf(list), refusedCursor, candidate)
      }
    })

    test('is cached privately and answers 304 to the tag of the cached page', async () => {
      const path = pathOf(list, [['limit', '3']])
      const called = await service.call(path)
      const etag = String(called.headers.get('etag'))
      assert.equal(called.headers.get('cache-control'), 'private, no-cache')
      assert.match(etag, /^(W\/)?"[^"]+"$/)
      const held = [etag, `"other", ${etag}`, '*', etag.replace(/^W\//, '')]
      for (const [method, tag] of [...held.map((tag) => ['GET', tag]), ['HEAD', etag]] as const) {
        const again = await service.call(path, { method, headers: { 'if-none-match': tag } })
        assert.equal(again.status, 304, tag)
        assert.equal(again.text, '')
        assert.equal(again.headers.get('content-length'), null)
        assert.equal(again.headers.get('content-type'), null)
        assert.equal(again.headers.get('etag'), etag)
        assert.equal(again.headers.get('cache-control'), 'private, no-cache')
        assert.match(String(again.headers.get('x-request-id')), /^\S{8,}$/)
      }
    })

    test('gives each page its own tag, and answers an unknown tag with the page', async () => {
      const page = await service.call(pathOf(list, [['limit', '3']]))
      const shorter = await service.call(pathOf(list, [['limit', '2']]))
      assert.notEqual(shorter.headers.get('etag'), page.headers.get('etag'))
      const again = await service.call(pathOf(list, [['limit', '3']]), {
        headers: { 'if-none-match': '"x", W/"y"' },
      })
      assert.equal(again.status, 200)
      assert.deepEqual(itemsOf(list, again), itemsOf(list, page))
    })

    test('gives equal pages different tags when only one has a next page', async () => {
      const { items } = await readAllPages(service, list, [], { as: borealis })
      const last = items.at(-1)
      const name = list.id === 'listStatements' ? 'statement_ids' : 'ids'
      const one = await service.call(pathOf(list, [[name, String(last?.id)]], 'borealis'), {
        as: borealis,
      })
      const first = await service.call(
        pathOf(
          list,
          [
            ['limit', '1'],
            ['order', 'ASC'],
          ],
          'borealis',
        ),
        {
          as: borealis,
        },
      )
      assert.deepEqual(itemsOf(list, one), itemsOf(list, first))
      assert.notEqual(one.headers.get('etag'), first.headers.get('etag'))
    })
  })
}

test('refuses a cursor with any one character changed, removed or inserted', async () => {
  // Every list opens its cursors by the same function, so one list shows it for all.
  const [list = assert.fail()] = lists
  const cursor = await firstCursor(list)
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
  const changed = [...cursor].flatMap((character, at) => {
    const other = alphabet[(alphabet.indexOf(character) + 1 + (at % 62)) % 64]
    return [
      cursor.slice(0, at) + other + cursor.slice(at + 1),
      cursor.slice(0, at) + cursor.slice(at + 1),
      `${cursor.slice(0, at)}A${cursor.slice(at)}`,
    ]
  })
  // Decoders ignore some bits of the last character; each of the other 63 must be refused too.
  const lasts = [...alphabet].map((last) => cursor.slice(0, -1) + last)
  const others = [`${cursor}=`, `${cursor}==`, ` ${cursor}`, `${cursor}\n`, cursor.slice(0, 20)]
  const bad = [...changed, ...lasts, ...others].filter((candidate) => candidate !== cursor)
  for (const candidate of new Set(bad)) {
    const called = await service.call(pathOf(list, [['page_cursor', candidate]]))
    assertParameterErrors(called, instanceOf(list), refusedCursor, candidate)
  }
})

for (const get of gets) {
  test(`${get.id} forbids caches to store its answer`, async () => {
    const called = await service.call(pathOf(get))
    assert.equal(called.headers.get('cache-control'), 'no-store')
    assert.equal(called.headers.get('etag'), null)
  })
}
