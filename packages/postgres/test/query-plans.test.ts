import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { asTenant, fullTable, type ListOperation, lists } from '@bursar/contract'
import type { Selection } from '@bursar/records'
import { openPostgresTestStore } from '../../../test/support/record-store.ts'
import { firstPage } from '../../../test/support/selection.ts'
import { openPlans, type Plans } from '../../records/test/support/postgres-plans.ts'
import { getQuery } from '../src/records/look-ups.ts'
import { pageQuery, pagesQuery } from '../src/records/page-query.ts'

let tested: Awaited<ReturnType<typeof openPostgresTestStore>>
let plans: Plans

/** Enough rows to tempt the planner into a sequential scan or a sort. */
const ANY_ID = 'aaaaaaaa-0000-4000-8000-000000000001'
const ROWS = 20_000
const CUSTOMERS = 20

before(async () => {
  tested = await openPostgresTestStore()
  await tested.database.ask(`insert into bursar.customer (id)
    select 'customer-' || at from generate_series(1, ${CUSTOMERS}) as at`)
  const tables = lists.map(({ view }) => view.resource.table)
  // No plan depends on it.
  await tested.database.ask(
    'alter table bursar.fiat_deposit_instructions alter column version_mark set default 0',
  )
  for (const table of tables) await tested.database.ask(fillOf(table, await membersOf(table)))
  await tested.database.ask(`
    insert into bursar.fiat_account_full (customer, id, deleted, body, checksum, version_mark)
      select customer, id, deleted, body, 0, 0 from bursar.fiat_account;
    analyze`)
  // The plans are those of the role that serves customers.
  plans = openPlans(tested.database.url)
})
after(async () => {
  await plans?.close()
  await tested?.close()
})

async function membersOf(table: string): Promise<string[]> {
  const rows = await tested.database.ask(`
    select attname from pg_attribute where attrelid = 'bursar.${table}'::regclass and attnum > 0
      and atttypid = 'text'::regtype and attname <> 'body'`)
  return rows.map(([name]) => String(name))
}

const fillOf = (table: string, members: readonly string[]): string => `
  insert into bursar.${table} (customer, deleted, position, id, body, stored_at, checksum, change, event, ${members.join(', ')})
  select 1 + (at - 1) % ${CUSTOMERS}, at % 50 = 0, int8send(at) || uuid_send(gen_random_uuid()),
    gen_random_uuid(), repeat('x', 700), 0, 0, 0, 0, ${members.map((name) => `'${name} ' || at`).join(', ')}
  from generate_series(1, ${ROWS}) as at`

/**
 * Every scan of records must use an index and start with the tenant, or with the value of a filter
 * and then the tenant: it then reads no entry of another customer. The policy of row-level
 * security is part of the index condition, or the planner evaluates it once before the scan.
 */
function assertTenantFirst(plan: readonly string[], table: string): void {
  const whole = plan.join('\n')
  assert.doesNotMatch(whole, /Seq Scan|Bitmap/, whole)
  const scans = plan.flatMap((line, at) => (new RegExp(`on ${table}\\b`).test(line) ? [at] : []))
  assert.ok(scans.length > 0, whole)
  for (const at of scans) {
    assert.match(plan[at] ?? '', /Index (Only )?Scan/, whole)
    assert.match(
      plan[at + 1] ?? '',
      /Index Cond: \(+(\w+ = entry\.value\) AND \()?customer = /,
      whole,
    )
    assert.match(`${plan[at - 1]}${plan[at + 1]}`, /current_setting\('bursar.customer'/, whole)
  }
}

const tenant = asTenant('customer-1')

for (const operation of lists) {
  const { resource } = operation.view
  const plan = (selection: Partial<Selection>) =>
    plans.explain(pageQuery(resource, { tenant, selection: { ...firstPage, ...selection } }))
  describe(operation.id, () => {
    for (const order of ['ASC', 'DESC'] as const) {
      test(`scans the primary key without a filter, ${order}, and sorts nothing`, async () => {
        const lines = await plan({ order })
        assertTenantFirst(lines, resource.table)
        assert.doesNotMatch(lines.join('\n'), /Sort/)
        assert.match(lines.join('\n'), /"?position"? > \$2\) AND \("?position"? < \$3\)/)
      })
      test(`does the same for each of several pages, ${order}`, async () => {
        const selection = { ...firstPage, order }
        const asked = [tenant, asTenant('customer-2')].map((one) => ({ tenant: one, selection }))
        const lines = await plans.explain(pagesQuery(resource, order, asked))
        assertTenantFirst(lines, resource.table)
        assert.doesNotMatch(lines.join('\n'), /Sort/)
        assert.match(
          lines.join('\n'),
          /"?position"? > request.low\) AND \("?position"? < request.high\)/,
        )
      })
    }
    for (const [parameter, entries] of filtersOf(operation)) {
      test(`finds ${parameter} in an index that starts with the tenant`, async () => {
        const lines = await plan({ anyOf: [entries] })
        assertTenantFirst(lines, resource.table)
        assert.match(lines.join('\n'), /= entry.value/)
      })
    }
    test('uses an index for all of its filters together', async () => {
      const lines = await plan({ anyOf: filtersOf(operation).map(([, entries]) => entries) })
      assertTenantFirst(lines, resource.table)
    })
    test('finds the records of a batch of gets by their keys', async () => {
      const asked = [{ tenant: asTenant('customer-1'), id: ANY_ID, includeDeleted: false }]
      assertTenantFirst(
        await plans.explain(getQuery(fullTable(resource), asked)),
        fullTable(resource),
      )
    })
  })
}

test('scans live and deleted records as two ranges of the primary key', async () => {
  const accounts = lists.find(({ view }) => view.resource.deletable)
  if (accounts === undefined) throw new Error('nothing is deletable')
  const { resource } = accounts.view
  const lines = await plans.explain(
    pageQuery(resource, { tenant, selection: { ...firstPage, includeDeleted: true } }),
  )
  assertTenantFirst(lines, resource.table)
  assert.match(lines.join('\n'), /deleted = entry.value/)
})

test('reads about as many blocks for a distant page as for the first', async () => {
  const [list] = lists
  if (list === undefined) throw new Error('there is no list')
  const { resource } = list.view
  const page = (after: Buffer | undefined) =>
    pageQuery(resource, { tenant, selection: { ...firstPage, limit: 10, after } })
  const positions = await tested.database.ask(`
    select encode(position, 'hex') from bursar.${resource.table}
    where customer = 1 and not deleted order by position desc`)
  assert.ok(positions.length > 900)
  const blocks: number[] = []
  for (const depth of [0, 300, 600, 900]) {
    const [hex] = positions[depth - 1] ?? []
    const after = hex == null ? undefined : Buffer.from(hex, 'hex')
    const lines = await plans.explain(page(after), 'analyze, buffers, format json')
    const [{ Plan }] = JSON.parse(lines.join('\n'))
    blocks.push(Plan['Shared Hit Blocks'] + Plan['Shared Read Blocks'])
  }
  // The levels of the index, ten records, and a few blocks more where they cross a block's end.
  const spread = Math.max(...blocks) - Math.min(...blocks)
  assert.ok(spread <= 10, `blocks by depth: ${blocks.join(', ')}`)
})

function filtersOf(operation: ListOperation) {
  return Object.entries(operation.filter).flatMap(([parameter, filter]) =>
    filter.kind === 'anyOf'
      ? [
          [
            parameter,
            { column: filter.column, values: [ANY_ID, ANY_ID.replace('1', '2')] },
          ] as const,
        ]
      : [],
  )
}
