import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { describeService } from '../../../../test/support/describe-service.ts'
import { lists, type Pairs, pathOf } from '../../../../test/support/operation-calls.ts'
import { type Item, itemsOf, readAllPages } from '../../../../test/support/read-all-pages.ts'

/** What a valid filter matches. parameters.test.ts has the values that are refused. */

const service = describeService()

/** 1 to 200 characters that no record has, some of them with a meaning in SQL or LIKE. */
const unmatchedTexts = [
  'x',
  'x'.repeat(200),
  '🙂'.repeat(200),
  ' ',
  '%',
  "'; drop table",
  '\u202e',
  '\\',
]

const textFilters = new Set([
  'ref_ids',
  'memo_ids',
  'profile_ids',
  'profile_id',
  'identity_ids',
  'account_ids',
  'addresses',
])

/** The member that a filter compares; of `ref_ids` it is `ref_id`. */
const comparedMember = (name: string): string => special[name] ?? name.replace(/s$/, '')

const special: Readonly<Record<string, string>> = {
  statement_ids: 'id',
  addresses: 'address',
  networks: 'crypto_network',
  status: 'status',
  statuses: 'status',
}

for (const list of lists) {
  describe(list.id, () => {
    const names = Object.keys(list.query).filter(
      (name) => name === 'ids' || name in special || textFilters.has(name),
    )
    const valueIn = (item: Item, name: string) => String(item[comparedMember(name)])

    test('a filter returns exactly the records that have one of its values', async () => {
      const { items } = await readAllPages(service, list)
      for (const name of names) {
        const having = items.filter((item) => comparedMember(name) in item)
        const values = [...new Set(having.map((item) => valueIn(item, name)))]
        assert.ok(values.length > 0, name)
        const given = values.slice(0, name === 'profile_id' ? 1 : 2)
        const query = given.map((value) => [name, value] as const)
        const expected = items.filter((item) => given.includes(valueIn(item, name)))
        assert.deepEqual((await readAllPages(service, list, query)).items, expected, name)
      }
    })

    test('several filters return the records for which all of them hold', async () => {
      const { items } = await readAllPages(service, list)
      const whole = items.find((item) => names.every((name) => comparedMember(name) in item))
      assert.ok(whole !== undefined)
      const query = names.map((name) => [name, valueIn(whole, name)] as const)
      assert.deepEqual((await readAllPages(service, list, query)).items, [whole])
      const others = query.filter(
        ([name]) => !/^(statement_|ref_|memo_)?ids$|^addresses$/.test(name),
      )
      const expected = items.filter((item) =>
        others.every(([name, value]) => valueIn(item, name) === value),
      )
      assert.deepEqual((await readAllPages(service, list, others)).items, expected)
    })

    const idName = 'statement_ids' in list.query ? 'statement_ids' : 'ids'

    test('matches ids in either case and answers them in lower case', async () => {
      const [first] = itemsOf(list, await service.call(pathOf(list, [['limit', '1']])))
      const id = first?.id ?? ''
      const both: Pairs = [
        [idName, id.toUpperCase()],
        [idName, id],
      ]
      const called = await service.call(pathOf(list, both))
      assert.deepEqual(itemsOf(list, called), [first])
      assert.equal(id, id.toLowerCase())
    })

    test('finds every match among the most entries that a filter may have', async () => {
      const { items } = await readAllPages(service, list)
      const wanted = items.filter((_, at) => at % 3 === 0).slice(0, 90)
      const most =
        list.view.resource.kind === 'statements' || list.id.includes('Quote') ? 1000 : 100
      for (const [name, member] of [
        [idName, 'id'],
        ['ref_ids', 'ref_id'],
      ] as const) {
        const found = wanted.filter((item) => member in item)
        assert.ok(found.length > 20, name)
        const others = Array.from({ length: most - found.length }, (_, at) =>
          member === 'id'
            ? `ffffffff-0000-4000-8000-${String(at).padStart(12, '0')}`
            : `none-${at}`,
        )
        const values = [...others, ...found.map((item) => String(item[member]))]
        const query = values.map((value) => [name, value] as const)
        const pages = await readAllPages(service, list, query, { limit: 40 })
        assert.deepEqual(pages.items, found, name)
      }
    })

    for (const name of Object.keys(list.query).filter((each) => textFilters.has(each))) {
      test(`compares ${name} literally, with no wildcards and no splitting`, async () => {
        for (const text of unmatchedTexts) {
          const called = await service.call(pathOf(list, [[name, text]]))
          assert.deepEqual([called.status, called.body], [200, { [list.envelope]: [] }], text)
        }
      })
    }
  })
}

describe('time bounds', () => {
  for (const list of lists.filter(
    (candidate) => 'created_at.eq' in candidate.query || 'created_range.end' in candidate.query,
  )) {
    test(`${list.id} compares times exactly, including bounds finer than a microsecond`, async () => {
      const { items } = await readAllPages(service, list)
      const all = items.map(({ id, created_at }) => ({ id, created_at: String(created_at) }))
      const at = all.find(({ created_at }) => /\.\d{6}Z$/.test(created_at))?.created_at ?? ''
      const finer = at.replace('Z', '001Z')
      const idsWhere = (holds: (created: string) => boolean) =>
        all.filter(({ created_at }) => holds(sortable(created_at))).map(({ id }) => id)
      const isRange = 'created_range.end' in list.query
      const [gte, lte] = isRange
        ? ['created_range.begin', 'created_range.end']
        : ['created_at.gte', 'created_at.lte']
      const cases: [string, (created: string) => boolean][] = [
        [`${gte}=${at}`, (created) => created >= sortable(at)],
        [`${lte}=${at}`, (created) => created <= sortable(at)],
        [`${gte}=${finer}`, (created) => created > sortable(at)],
        [`${lte}=${finer}`, (created) => created <= sortable(at)],
        [`${gte}=${at}&${lte}=${at}`, (created) => created === sortable(at)],
        ...(isRange
          ? []
          : ([
              [`created_at.gt=${at}`, (created) => created > sortable(at)],
              [`created_at.lt=${at}`, (created) => created < sortable(at)],
              [`created_at.eq=${at}`, (created) => created === sortable(at)],
              [`created_at.gt=${finer}`, (created) => created > sortable(at)],
              [`created_at.lt=${finer}`, (created) => created <= sortable(at)],
              [`created_at.eq=${finer}`, () => false],
              [`created_at.gt=${at}&created_at.lt=${at}`, () => false],
            ] as [string, (created: string) => boolean][])),
      ]
      for (const [query, holds] of cases) {
        const pairs = new URLSearchParams(query)
        const { items: found } = await readAllPages(service, list, [...pairs])
        assert.deepEqual(
          found.map(({ id }) => id),
          idsWhere(holds),
          query,
        )
      }
    })
  }
})

/** Pads a time to six fraction digits, so that texts sort as times do. */
const sortable = (printed: string): string => {
  const [whole = '', fraction = ''] = printed.replace('Z', '').split('.')
  return `${whole}.${fraction.padEnd(6, '0')}`
}
