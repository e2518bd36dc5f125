import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { ListOperation } from '../../src/contract/operation.ts'
import { acme, borealis, startTestService, type TestService } from '../support/harness.ts'
import { gets, lists, type Pairs, pathOf } from '../support/operation-calls.ts'
import { assertFaults } from '../support/problem-answer.ts'
import { type Item, itemsOf, walk } from '../support/walk.ts'

let service: TestService

before(async () => {
  service = await startTestService()
})
after(() => service.stop())

const sortMember = (list: ListOperation): string =>
  list.id === 'listStatements' ? 'period_start' : 'created_at'

/** A printed time with all six digits, so that texts compare as the times do. */
function sortable(printed: unknown): string {
  const [whole = '', fraction = ''] = String(printed).replace('Z', '').split('.')
  return `${whole}.${fraction.padEnd(6, '0')}`
}

/** Filters under which the sandbox has several pages of Acme's. */
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

async function firstCursor(list: ListOperation, query: Pairs = [], as = acme): Promise<string> {
  const path = pathOf(list, [['limit', '2'], ...query], as.customerId)
  const called = await service.call(path, { as })
  assert.equal(typeof called.body.next_page_cursor, 'string', called.text)
  return called.body.next_page_cursor
}

for (const list of lists) {
  describe(list.id, () => {
    test('has ties of time in the sandbox, and orders them by id in the same direction', async () => {
      const { items } = await walk(service, list)
      const member = sortMember(list)
      const keys = items.map((item) => `${sortable(item[member])} ${item.id}`)
      assert.deepEqual(keys, keys.toSorted().toReversed())
      assert.equal(new Set(keys).size, keys.length)
      assert.ok(new Set(items.map((item) => item[member])).size < items.length, 'no tie to break')
    })

    test('answers newest first unless told otherwise, and ASC as the exact reverse', async () => {
      for (const query of filtersOf(list)) {
        const { items } = await walk(service, list, query)
        const descending = await walk(service, list, [...query, ['order', 'DESC']])
        const ascending = await walk(service, list, [...query, ['order', 'ASC']])
        assert.deepEqual(descending.items, items)
        assert.deepEqual(ascending.items, items.toReversed())
      }
    })

    test('gives the same records at every page size, every page full but the last', async () => {
      for (const query of filtersOf(list)) {
        for (const order of ['DESC', 'ASC']) {
          const ordered: Pairs = [...query, ['order', order]]
          const { items: all } = await walk(service, list, ordered)
          const sizes = [37, 100, all.length, all.length + 1, Math.ceil(all.length / 2)]
          for (const limit of sizes.filter((size) => size >= 1 && size <= 1000)) {
            const { items, pageSizes } = await walk(service, list, ordered, { limit })
            assert.deepEqual(items, all)
            assert.ok(pageSizes.slice(0, -1).every((size) => size === limit))
            assert.equal(pageSizes.length, Math.max(1, Math.ceil(all.length / limit)))
          }
        }
      }
    })

    test('walks one record at a time', async () => {
      const { items: all } = await walk(service, list, [], { as: borealis })
      const { items, pageSizes } = await walk(service, list, [], { as: borealis, limit: 1 })
      assert.deepEqual(items, all)
      assert.equal(pageSizes.length, all.length)
    })

    test('answers 100 records where no limit is given', async () => {
      const called = await service.call(pathOf(list))
      const { items } = await walk(service, list, [], { limit: 100 })
      assert.deepEqual(itemsOf(list, called), items.slice(0, 100))
    })

    test('leaves the cursor away on the last page, also where it is exactly full', async () => {
      const { items } = await walk(service, list, [], { as: borealis })
      const called = await service.call(
        pathOf(list, [['limit', String(items.length)]], 'borealis'),
        { as: borealis },
      )
      assert.deepEqual(called.body, { [list.envelope]: items })
    })

    test('answers an empty array where nothing matches', async () => {
      const called = await service.call(pathOf(list, [['ref_ids', 'nobody’s']]))
      assert.equal(called.status, 200)
      assert.equal(called.text, `{"${list.envelope}":[]}`)
    })

    test('lets the limit change from page to page', async () => {
      const { items: all } = await walk(service, list)
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

    test('gives cursors that show nothing of the record and need no escaping', async () => {
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

    test('takes a cursor again and again', async () => {
      const cursor = await firstCursor(list)
      const query: Pairs = [
        ['limit', '2'],
        ['page_cursor', cursor],
      ]
      const once = await service.call(pathOf(list, query))
      const twice = await service.call(pathOf(list, query))
      assert.deepEqual(itemsOf(list, twice), itemsOf(list, once))
    })

    test('takes a cursor whatever the order in which the same filters are written', async () => {
      const [a = '', b = ''] = (await walk(service, list)).items.flatMap(({ ref_id }) =>
        typeof ref_id === 'string' ? [ref_id] : [],
      )
      const refs = (...given: string[]): Pairs => given.map((ref) => ['ref_ids', ref] as const)
      const called = await service.call(pathOf(list, [['limit', '1'], ...refs(a, b)]))
      const cursor: string = called.body.next_page_cursor
      for (const same of [refs(a, b), refs(b, a), refs(a, b, a)]) {
        const next = await service.call(pathOf(list, [...same, ['page_cursor', cursor]]))
        assert.equal(next.status, 200)
        assert.deepEqual(itemsOf(list, next)[0]?.ref_id, b)
      }
    })

    test('refuses a cursor under another order or other filters', async () => {
      const refuse = async (sealed: Pairs, used: Pairs) => {
        const cursor = await firstCursor(list, sealed)
        const called = await service.call(pathOf(list, [...used, ['page_cursor', cursor]]))
        assertFaults(called, instanceOf(list), refusedCursor)
      }
      await refuse([], [['order', 'ASC']])
      await refuse([['order', 'ASC']], [])
      await refuse([], [['ref_ids', 'some-ref']])
      for (const query of filtersOf(list).slice(1)) {
        await refuse(query, [])
        await refuse([], query)
      }
    })

    test('refuses a cursor of another list', async () => {
      const cursor = await firstCursor(list)
      for (const other of lists.filter(({ id }) => id !== list.id)) {
        const called = await service.call(pathOf(other, [['page_cursor', cursor]]))
        assertFaults(called, instanceOf(other), refusedCursor)
      }
    })

    test('refuses a cursor of another customer', async () => {
      const cursor = await firstCursor(list, [], borealis)
      const called = await service.call(pathOf(list, [['page_cursor', cursor]]))
      assertFaults(called, instanceOf(list), refusedCursor)
    })

    test('refuses a cursor in which any one character is changed, missing or added', async () => {
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
      // The last character carries bits that decoders ignore: each of the other 63 must be refused too.
      const lasts = [...alphabet].map((last) => cursor.slice(0, -1) + last)
      const others = [`${cursor}=`, `${cursor}==`, ` ${cursor}`, `${cursor}\n`, cursor.slice(0, 20)]
      const bad = [...changed, ...lasts, ...others].filter((candidate) => candidate !== cursor)
      for (const candidate of new Set(bad)) {
        const called = await service.call(pathOf(list, [['page_cursor', candidate]]))
        assertFaults(called, instanceOf(list), refusedCursor)
      }
    })

    test('refuses what never was a cursor', async () => {
      const forged = Buffer.from('{"after":"2026-01-01T00:00:00Z"}').toString('base64url')
      for (const candidate of ['0', 'null', 'AA', forged, 'A'.repeat(5000), '‮', '../..']) {
        const called = await service.call(pathOf(list, [['page_cursor', candidate]]))
        assertFaults(called, instanceOf(list), refusedCursor)
      }
    })

    test('is cached privately and answers 304 to the tag of the page that is held', async () => {
      const path = pathOf(list, [['limit', '3']])
      const called = await service.call(path)
      const etag = String(called.headers.get('etag'))
      assert.equal(called.headers.get('cache-control'), 'private, no-cache')
      assert.match(etag, /^(W\/)?"[^"]+"$/)
      const held = [etag, `"other", ${etag}`, '*', etag.replace(/^W\//, '')]
      for (const [method, tag] of [...held.map((tag) => ['GET', tag]), ['HEAD', etag]] as const) {
        const again = await service.call(path, { method, headers: { 'if-none-match': tag } })
        assert.equal(again.status, 304)
        assert.equal(again.text, '')
        assert.equal(again.headers.get('content-length'), null)
        assert.equal(again.headers.get('etag'), etag)
        assert.equal(again.headers.get('cache-control'), 'private, no-cache')
        assert.match(String(again.headers.get('x-request-id')), /^\S{8,}$/)
      }
    })

    test('gives another page another tag, and an unknown tag the page', async () => {
      const page = await service.call(pathOf(list, [['limit', '3']]))
      const shorter = await service.call(pathOf(list, [['limit', '2']]))
      assert.notEqual(shorter.headers.get('etag'), page.headers.get('etag'))
      const again = await service.call(pathOf(list, [['limit', '3']]), {
        headers: { 'if-none-match': '"x", W/"y"' },
      })
      assert.equal(again.status, 200)
      assert.deepEqual(itemsOf(list, again), itemsOf(list, page))
    })

    test('gives a full page another tag when records come after it', async () => {
      const { items } = await walk(service, list, [], { as: borealis })
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

for (const get of gets) {
  test(`${get.id} is never stored by a cache`, async () => {
    const called = await service.call(pathOf(get))
    assert.equal(called.headers.get('cache-control'), 'no-store')
    assert.equal(called.headers.get('etag'), null)
  })
}
