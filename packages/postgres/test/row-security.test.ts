import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { openLog } from '@bursar/base'
import { asTenant } from '@bursar/contract'
import { StoreUnavailable } from '@bursar/records'
import { openPostgresTestStore } from '../../../test/support/record-store.ts'
import { aFiatAccount, anId } from '../../../test/support/records.ts'
import { firstPage } from '../../../test/support/selection.ts'
import { addressesOf } from '../../../test/support/test-database.ts'
import { turn, until } from '../../../test/support/until.ts'
import { fiatAccount } from '../../contract/src/resources/fiat-account.ts'
import { openServers } from '../src/cluster/servers.ts'
import { type Connection, openConnection } from '../src/driver/connection.ts'
import { requireCustomersRole, requireOperatorRole } from '../src/schema/roles.ts'

/** Tables with a customer but without row-level security (decision 0031). */
const withoutPolicies = ['client', 'erasure']

type Tested = Awaited<ReturnType<typeof openPostgresTestStore>>
let tested: Tested

before(async () => {
  tested = await openPostgresTestStore()
  await tested.take('fiat-accounts', [
    aFiatAccount(),
    aFiatAccount({ id: anId(2), customer_id: 'borealis' }),
  ])
})
after(() => tested.close())

/** A session of a role that sets no customer. */
async function as<T>(url: string, work: (session: Connection) => Promise<T>): Promise<T> {
  const [address] = addressesOf(url)
  if (address === undefined) throw new Error('no address')
  const session = openConnection(address, { parameters: {}, connectTimeoutMs: 60_000 })
  try {
    return await work(session)
  } finally {
    await session.close()
  }
}

const textsOf = async (session: Connection, text: string): Promise<string[][]> =>
  (await session.query({ text })).map((row) => row.map(String))

/** Begins a transaction that names a customer, as a statement of the store does. */
const nameCustomer = (id: string): string => `
  begin; set local bursar.customer_id = '${id}';
  select set_config('bursar.customer', number::text, true) from bursar.customer`

const settings = `current_setting('bursar.customer_id', true), current_setting('bursar.customer', true)`

const allIds = 'select id from bursar.fiat_account order by id'

describe('row-level security', () => {
  test('is forced on every table that holds customers’ data, for the owner too', async () => {
    const tables = await tested.database.ask(`
      select t.relname, t.relrowsecurity, t.relforcerowsecurity,
        (select count(*) from pg_policy as p where p.polrelid = t.oid and p.polname in ('customer', 'operator'))
      from pg_class as t join pg_attribute as a on a.attrelid = t.oid and (a.attname in ('customer', 'customer_id') or t.relname = 'customer' and a.attname = 'number')
      where t.relnamespace = 'bursar'::regnamespace and t.relkind in ('r', 'p') order by 1`)
    const secured = tables.filter(([name]) => !withoutPolicies.includes(String(name)))
    assert.ok(secured.length >= 8)
    for (const row of secured) assert.deepEqual(row.slice(1), ['t', 't', '2'], String(row[0]))
  })

  test('returns no rows if the setting names no customer', async () => {
    assert.deepEqual(await as(tested.database.url, (session) => textsOf(session, allIds)), [])
  })

  test('applies to the owner, who gets an error instead of no rows', async () => {
    await assert.rejects(
      as(tested.database.ownerUrl, (session) => textsOf(session, allIds)),
      /row-level security hides these rows from the owner of the table/,
    )
  })

  test('returns the rows of the customer in the setting, without a condition in the statement', async () => {
    const seen = await as(tested.database.url, async (session) => {
      await session.execute(nameCustomer('borealis'))
      return await textsOf(session, allIds)
    })
    assert.deepEqual(seen, [[anId(2)]])
  })

  test('treats the empty setting that an ended transaction leaves as no customer', async () => {
    await tested.database.ask(`insert into bursar.customer (id) values ('')`)
    const seen = await as(tested.database.url, async (session) => {
      await session.execute(`${nameCustomer('acme')}; commit`)
      return [
        await textsOf(session, `select ${settings}`),
        await textsOf(session, 'select * from bursar.customer'),
        await textsOf(session, 'select * from bursar.revision'),
        await textsOf(session, 'select * from bursar.history'),
      ]
    })
    assert.deepEqual(seen, [[['', '']], [], [], []])
    await tested.database.ask(`delete from bursar.customer where id = ''`)
  })

  test('is not bypassed by a view or a function of the owner', async () => {
    const { database } = tested
    const bypasses = await database.ask(`
      select relname from pg_class where relnamespace = 'bursar'::regnamespace and relkind in ('v', 'm')
      union all select proname from pg_proc where pronamespace = 'bursar'::regnamespace and prosecdef`)
    assert.deepEqual(bypasses, [])
    await as(database.ownerUrl, (owner) =>
      owner.execute(`
        create view bursar.bypass_view as select id from bursar.fiat_account;
        create function bursar.bypass_function() returns setof uuid language sql security definer
          as 'select id from bursar.fiat_account';
        grant select on bursar.bypass_view to bursar`),
    )
    const refused = /row-level security hides these rows from the owner of the table/
    for (const text of ['select id from bursar.bypass_view', 'select bursar.bypass_function()']) {
      await assert.rejects(
        as(database.url, (session) => textsOf(session, text)),
        refused,
        text,
      )
    }
    await database.ask('drop view bursar.bypass_view; drop function bursar.bypass_function')
  })

  test('leaves no customer in the session that the next request gets', async () => {
    const { rows } = await tested.store.customers.page(asTenant('acme'), fiatAccount.brief, {
      ...firstPage,
      limit: 10,
    })
    assert.equal(rows, 1)
    // The page resolves just before its session is returned to the pool.
    await turn()
    const [left] = await tested.customers.rows({
      text: `select current_setting('bursar.customer_id', true) || current_setting('bursar.customer', true) as customer,
        (select count(*) from bursar.fiat_account) as records`,
    })
    assert.deepEqual({ ...left }, { customer: '', records: 0n })
  })

  test('separates customers when one statement serves many gets', async () => {
    const asked = Array.from({ length: 200 }, (_, at) => ({
      tenant: asTenant(at % 3 === 0 ? 'borealis' : 'acme'),
      id: anId(1 + (at % 2)),
    }))
    const answers = await Promise.all(
      asked.map(({ tenant, id }) => tested.store.customers.get(tenant, fiatAccount.full, id, true)),
    )
    for (const [at, { tenant, id }] of asked.entries()) {
      const owner = id === anId(1) ? 'acme' : 'borealis'
      const body = answers[at]
      assert.equal(body === undefined, owner !== tenant, `${tenant} requests ${id}`)
      if (body !== undefined) assert.equal(JSON.parse(body).id, id)
    }
  })

  test('separates customers when one statement serves many pages', async () => {
    const asked = Array.from({ length: 60 }, (_, at) =>
      asTenant(at % 3 === 0 ? 'borealis' : 'acme'),
    )
    const pages = await Promise.all(
      asked.map((tenant) =>
        tested.store.customers
          .page(tenant, fiatAccount.brief, firstPage)
          .then(({ items, revision }) => ({
            records: JSON.parse(`[${Buffer.from(items)}]`),
            revision,
          })),
      ),
    )
    for (const [at, tenant] of asked.entries()) {
      const [record, ...others] = pages[at]?.records ?? []
      assert.equal(record?.id, tenant === 'acme' ? anId(1) : anId(2))
      assert.deepEqual(others, [])
      assert.ok((pages[at]?.revision.changedAt ?? 0n) > 0n)
    }
  })

  test('forbids the customers’ role to change records and history', async () => {
    await as(tested.database.url, async (session) => {
      for (const forbidden of [
        `update bursar.fiat_account set body = '{}'`,
        'delete from bursar.fiat_account',
        `insert into bursar.revision values (1, 'statements', 1)`,
        `insert into bursar.customer (id) values ('mine')`,
        'delete from bursar.history',
        'truncate bursar.statement',
        'create table bursar.mine ()',
      ]) {
        await assert.rejects(session.query({ text: forbidden }), { code: '42501' }, forbidden)
      }
    })
  })

  test('uses leakproof comparison functions only, because others prevent index scans', async () => {
    const leaky = await tested.database.ask(`
      select proname from pg_proc where not proleakproof and pronamespace = 'pg_catalog'::regnamespace
        and proname in ('texteq', 'uuid_eq', 'booleq', 'byteaeq', 'bytealt', 'byteagt', 'int8eq', 'int4eq')`)
    assert.deepEqual(leaky, [])
  })
})

describe('roles', () => {
  const requireRole = {
    primary: requireCustomersRole('DATABASE_URL'),
    standby: requireCustomersRole('DATABASE_READ_URLS'),
  }
  const url = (role: string) => tested.database.url.replace('//bursar@', `//${role}@`)

  test('serve refuses the owner, a superuser, a role with BYPASSRLS and the operator’s role', async () => {
    await tested.database.ask('create role bypasses login bypassrls')
    const refusals = {
      owner: /the owner of the tables/,
      postgres: /a superuser/,
      bypasses: /bypass row level security/,
      bursar_operator: /sees every customer/,
    }
    await tested.database.ask('grant usage on schema bursar to bypasses')
    for (const [role, reason] of Object.entries(refusals)) {
      await assert.rejects(as(url(role), requireRole.primary), reason)
    }
    await as(url('bursar'), requireRole.primary)
    await tested.database.ask('drop owned by bypasses; drop role bypasses')
  })

  test('the operator’s commands refuse every role but the operator’s', async () => {
    for (const [role, reason] of [
      ['bursar', /it would see no customer’s records.*OPERATOR_DATABASE_URL/],
      ['owner', /the owner of the tables.*OPERATOR_DATABASE_URL/],
      ['postgres', /a superuser.*OPERATOR_DATABASE_URL/],
    ] as const) {
      await assert.rejects(as(url(role), requireOperatorRole), reason)
    }
    await as(url('bursar_operator'), requireOperatorRole)
  })

  const openWith = (hosts: readonly string[], standbys: readonly string[] = []) =>
    openServers({
      primaries: hosts.flatMap(addressesOf),
      standbys: standbys.flatMap(addressesOf),
      parameters: {},
      requireRole,
      connectionsMax: 2,
      withinMs: 60_000,
      log: openLog('silent'),
    })

  test('every host of a URL and every standby is checked when the servers are opened', async () => {
    await assert.rejects(
      openWith([url('bursar'), url('postgres')]),
      /^ConfigError: 127.0.0.1:\d+: DATABASE_URL must not name the role postgres: it is a superuser/,
    )
    await assert.rejects(
      openWith([url('bursar')], [url('bursar'), url('bursar_operator')]),
      /DATABASE_READ_URLS must not name the role bursar_operator: it is the operator’s role/,
    )
  })

  test('a role that gains rights is refused at the next session, and accepted again without them', async () => {
    const role = `changing_${process.pid}`
    await tested.database.ask(`create role ${role} login in role bursar`)
    const servers = await openWith([url(role)])
    const read = () => servers.read((session) => textsOf(session, 'select current_user'))
    const isRefused = () =>
      read().then(
        () => false,
        (error: unknown) => error instanceof StoreUnavailable,
      )
    const endSessions = () =>
      tested.database.ask(
        `select pg_terminate_backend(pid) from pg_stat_activity where usename = '${role}'`,
      )
    assert.deepEqual(await read(), [[role]])
    await tested.database.ask(`alter role ${role} bypassrls`)
    await endSessions()
    assert.equal(await isRefused(), true)
    await tested.database.ask(`alter role ${role} nobypassrls`)
    await until(async () => !(await isRefused()))
    await servers.close()
    await tested.database.ask(`drop role ${role}`)
  })
})
