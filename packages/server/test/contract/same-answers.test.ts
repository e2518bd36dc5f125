import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import {
  acme,
  borealis,
  type Called,
  startTestService,
  type TestService,
} from '../../../../test/support/harness.ts'
import { gets, lists, type Pairs, pathOf } from '../../../../test/support/operation-calls.ts'

/** The same sandbox on both stores. Every request must get the same bytes from both. */
let stores: readonly TestService[] = []

before(async () => {
  stores = [
    await startTestService({ store: 'sqlite' }),
    await startTestService({ store: 'postgres' }),
  ]
})
after(() => Promise.all(stores.map((store) => store.stop())))

/** A response without the headers and members that differ from one response to the next. */
function answerOf({ status, headers, text }: Called) {
  const varying = new Set(['date', 'x-request-id', 'etag', 'as-of', 'keep-alive', 'content-length'])
  return {
    status,
    headers: [...headers].filter(([name]) => !varying.has(name)),
    text: text
      .replace(/"next_page_cursor":"[^"]+"/, '"next_page_cursor":"…"')
      .replace(/"request_id":"[^"]+"/, '"request_id":"…"'),
  }
}

/** The answer to a third request, which is the one that a service keeps in memory. */
async function callHot(store: TestService, path: string, as: typeof acme): Promise<Called> {
  const cold = await store.call(path, { as })
  await store.call(path, { as })
  const hot = await store.call(path, { as })
  assert.deepEqual(answerOf(hot), answerOf(cold), path)
  return hot
}

async function askBoth(path: string, as = acme): Promise<Called> {
  const [embedded, postgres] = await Promise.all(stores.map((store) => callHot(store, path, as)))
  if (embedded === undefined || postgres === undefined)
    throw new Error('The test needs two stores.')
  assert.deepEqual(answerOf(postgres), answerOf(embedded), path)
  return embedded
}

for (const list of lists) {
  describe(list.id, () => {
    const variants: Pairs[] = [
      [],
      [['order', 'ASC']],
      [['created_at.gte', '2026-05-01T00:00:00Z']],
      [['include_deleted', 'true']],
      [['limit', '0']],
      [['page_cursor', 'nonsense']],
    ]
    for (const query of variants) {
      test(`returns the same pages for ${JSON.stringify(query)}`, async () => {
        for (const as of [acme, borealis]) {
          await comparePages(pathOf(list, [['limit', '173'], ...query], as.customerId), as)
        }
      })
    }

    test('returns the same for each filter alone and for two together', async () => {
      const first = await askBoth(pathOf(list, [['limit', '400']]))
      const records = first.body[list.envelope] as Record<string, unknown>[]
      const members: Readonly<Record<string, string>> = {
        id: 'id',
        refId: 'ref_id',
        ...list.view.resource.columns,
      }
      const asked = Object.entries(list.filter).flatMap(([parameter, filter]) => {
        if (filter.kind !== 'anyOf') return []
        const values = records.flatMap((record) => record[members[filter.column] ?? ''] ?? [])
        assert.ok(values.length > 5, `no record has a value for ${parameter}`)
        return [values.slice(3, 6).map((value) => [parameter, String(value)] as const)]
      })
      for (const [at, pairs] of asked.entries()) {
        await askBoth(pathOf(list, pairs))
        await askBoth(pathOf(list, [...pairs, ...(asked[at + 1] ?? asked[0] ?? [])]))
      }
    })
  })
}

async function comparePages(path: string, as: typeof acme): Promise<void> {
  let cursors: readonly (string | undefined)[] = stores.map(() => undefined)
  do {
    const pages = await Promise.all(
      stores.map((store, at) => {
        const cursor = cursors[at]
        return cursor === undefined
          ? callHot(store, path, as)
          : store.call(`${path}&page_cursor=${cursor}`, { as })
      }),
    )
    const [embedded, postgres] = pages.map(answerOf)
    assert.deepEqual(postgres, embedded, path)
    cursors = pages.map(({ body }) => body.next_page_cursor)
  } while (cursors[0] !== undefined)
}

for (const get of gets) {
  test(`${get.id} returns the same for known, foreign and deleted ids`, async () => {
    const list = lists.find(({ view }) => view.resource === get.view.resource)
    if (list === undefined) throw new Error('no list')
    const known = await askBoth(
      pathOf(list, [
        ['limit', '150'],
        ['include_deleted', 'true'],
      ]),
    )
    const foreign = await askBoth(pathOf(list, [['limit', '5']], 'borealis'), borealis)
    const records = [...known.body[list.envelope], ...foreign.body[list.envelope]]
    for (const { id } of records as { id: string }[]) {
      await askBoth(get.path.replace(':id', id))
      await askBoth(`${get.path.replace(':id', id)}?include_deleted=true`)
    }
  })
}
