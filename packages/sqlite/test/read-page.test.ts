import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { after, describe, test } from 'node:test'
import { asTenant } from '@bursar/contract'
import { rangeOf } from '@bursar/records'
import { firstPage } from '../../../test/support/selection.ts'
import { readPage } from '../src/records/customer-records.ts'

const customer = asTenant('acme')
const RECORDS = 1000

/** Records 1 to 1000, the later ones larger, by a statement like that of a page. */
const db = new DatabaseSync(':memory:')
db.exec(`
  create table record (position blob primary key, body text);
  with recursive n (at) as (select 1 union all select at + 1 from n where at < ${RECORDS})
  insert into record
    select cast(format('%024d', at) as blob), format('{"at":%d,"x":"%s"}', at, hex(zeroblob(at / 2))) from n`)
after(() => db.close())

const bodies = db
  .prepare('select body from record order by position')
  .all()
  .map(({ body }) => String(body))

function read({ limit, order }: { readonly limit: number; readonly order: 'ASC' | 'DESC' }) {
  const [lastOf, beyond] = order === 'ASC' ? ['max', '>'] : ['min', '<']
  const range = 'position > :low and position < :high'
  const limits: unknown[] = []
  db.function('noted', (value) => {
    limits.push(Number(value))
    return value
  })
  const statement = db.prepare(`
    select items, rows, last, '7 9' as revision, rows = noted(:limit) and exists (
      select 1 from record where ${range} and position ${beyond} last
    ) as more
    from (
      select cast(group_concat(body) as blob) as items, count(*) as rows, ${lastOf}(position) as last
      from (select body, position from record where ${range} and :customer is not null
        order by position ${order} limit :limit + 0)
    )`)
  const selection = { ...firstPage, limit, order }
  const asked = { customer, parameters: {}, selection, range: rangeOf(selection) }
  const pageOf = (isRange: boolean) => {
    const page = readPage(statement, { ...asked, isRange })
    const { rows, more, last, revision } = page
    const items = Buffer.from(page.items).toString()
    page.release?.()
    return { items, rows, more, last: Buffer.from(last ?? []).toString(), revision }
  }
  return { inPieces: pageOf(true), statements: limits.splice(0), atOnce: pageOf(false) }
}

describe('a page that is read in pieces', () => {
  for (const order of ['ASC', 'DESC'] as const) {
    test(`is the same as one that is read at once, ${order}`, () => {
      const inOrder = order === 'ASC' ? bodies : bodies.toReversed()
      for (const limit of [1, 2, 199, 200, 201, 400, 999, 1000, 1001]) {
        const { inPieces, atOnce } = read({ limit, order })
        const rows = Math.min(limit, RECORDS)
        const place = order === 'ASC' ? rows : RECORDS - rows + 1
        assert.deepEqual(inPieces, atOnce, `limit ${limit}`)
        assert.deepEqual(
          inPieces,
          {
            items: inOrder.slice(0, limit).join(','),
            rows,
            more: limit < RECORDS,
            last: String(place).padStart(24, '0'),
            revision: { changedAt: 7n, salt: 9n },
          },
          `limit ${limit}`,
        )
      }
    })
  }

  test('takes at most 200 records a statement, and no statement after the last record', () => {
    assert.deepEqual(read({ limit: 450, order: 'ASC' }).statements, [200, 200, 50])
    assert.deepEqual(read({ limit: 5000, order: 'ASC' }).statements, [200, 200, 200, 200, 200])
  })
})
