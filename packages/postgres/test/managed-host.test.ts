import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, describe, test } from 'node:test'
import { type PostgresServer, startPostgres } from '../../../test/support/postgres-server.ts'
import { aFiatAccount } from '../../../test/support/records.ts'
import { runBursar } from '../../../test/support/run-bursar.ts'
import { doctorFindings } from '../../../test/support/run-doctor.ts'
import { execute, testStore } from '../../../test/support/test-database.ts'
import { askAt } from '../../records/test/support/postgres-world.ts'
import { auditRights, tableRights } from '../src/schema/grants.ts'

/** The statements of the set-up, without the passwords that psql asks for. */
const documented = (): readonly string[] => {
  const [, block = ''] = /## Set up on PostgreSQL.*?```sql\n(.*?)```/s.exec(
    readFileSync('docs/running.md', 'utf8'),
  ) ?? [assert.fail('docs/running.md has no set-up')]
  return block
    .replaceAll(/^(--|\\).*$/gm, '')
    .split(';')
    .map((statement) => statement.trim())
    .filter(Boolean)
}

/**
 * A database as managed hosts give it: the administrator is no superuser, PUBLIC has no rights, and
 * a publication has all tables.
 */
describe('on a managed host', { skip: testStore !== 'postgres' && 'needs PostgreSQL' }, () => {
  let server: PostgresServer
  const url = (role: string, database = 'bursar') => server.url(role, database)
  const asSuperuser = (sql: string) => execute(url('postgres'), sql)
  const succeed = async (words: readonly string[], stdin = '') => {
    const { code, out, err } = await runBursar(url('bursar_operator'), words, stdin)
    assert.equal(code, 0, `${words.join(' ')}: ${err}`)
    return out
  }
  const found = () =>
    doctorFindings(() =>
      runBursar(url('bursar'), ['doctor', '--json'], '', {
        OPERATOR_DATABASE_URL: url('bursar_operator'),
        BURSAR_ACCEPT_SAMPLE_FEES: 'true',
      }),
    )

  before(async () => {
    const version = process.env.BURSAR_TEST_POSTGRES === 'debian' ? 'debian' : 'newest'
    server = await startPostgres({ version, settings: ['wal_level = logical'] })
    await execute(
      url('postgres', 'postgres'),
      'create role administrator login createrole createdb',
    )
    // Each alone: a database cannot be made in a transaction.
    for (const statement of documented()) {
      await execute(url('administrator', 'postgres'), statement)
    }
    await asSuperuser(`
      revoke all on database bursar from public;
      revoke all on schema public from public;
      create publication everything for all tables`)
    const { code, err } = await runBursar(url('bursar_owner'), ['migrate'])
    assert.equal(code, 0, err)
  })
  after(() => server.stop())

  test('the documented set-up leaves nothing to mend', async () => {
    await succeed(['import', 'fiat-accounts', '-'], `${JSON.stringify(aFiatAccount())}\n`)
    const ofHost = ['durability', 'backup', 'surroundings']
    const own = (await found()).filter(({ check }) => !ofHost.includes(check))
    assert.deepEqual(own, [])
  })

  test('each table has a key that a publication can name', async () => {
    const without = await askAt(
      url('postgres'),
      `select oid::regclass from pg_class as relation
       where relnamespace in ('bursar'::regnamespace, 'bursar_audit'::regnamespace)
         and relkind in ('r', 'p') and relpersistence = 'p' and not exists (
           select from pg_index where indrelid = relation.oid
             and case relreplident when 'd' then indisprimary when 'i' then indisreplident end)`,
    )
    assert.deepEqual(without, [])
  })

  test('a publication of all tables refuses no statement of the roles', async () => {
    const names = Object.keys(tableRights).map((name) => `bursar.${name}`)
    for (const name of [...names, ...Object.keys(auditRights)]) {
      await asSuperuser(`explain delete from ${name}`)
    }
  })

  test('records are changed, sealed again, pruned and erased while all tables are published', async () => {
    const [first, changed] = [{}, { status: 'APPROVED', updated_at: '2026-05-01T00:00:00Z' }].map(
      (over) => `${JSON.stringify(aFiatAccount(over))}\n`,
    )
    await succeed(['import', 'fiat-accounts', '-'], first)
    await succeed(['import', 'fiat-accounts', '-'], changed)
    // The statement by which bodies are sealed again.
    await execute(url('bursar_operator'), 'update bursar.history set body = body')
    const pruned = await succeed(['history', 'prune', '--before', new Date().toISOString()])
    assert.match(pruned, /^deleted 1 version\n/)
    await succeed(['customer', 'erase', 'acme', '--yes'])
  })

  /** What is revoked, how it is given back, who notices by which words, and whom they advise. */
  const rights: readonly (readonly [
    revoke: string,
    give: string,
    words: readonly [role: string, ...words: string[]],
    told: RegExp,
  ])[] = [
    [
      'revoke temporary on database bursar from bursar_operator',
      'grant temporary on database bursar to bursar_operator',
      ['bursar_operator', 'import', 'fiat-accounts', '-'],
      /may not make temporary tables, .*Run `grant temporary on database bursar to bursar_operator`/,
    ],
    [
      'revoke connect on database bursar from bursar',
      'grant connect on database bursar to bursar',
      ['bursar', 'serve'],
      /denied for database "bursar"; run `grant connect on database bursar to bursar` as an admin/,
    ],
    [
      'revoke select on pg_catalog.pg_roles from public',
      'grant select on pg_catalog.pg_roles to public',
      ['bursar', 'serve'],
      /denied for view pg_roles; run `grant select on pg_roles to bursar` as an administrator/,
    ],
    [
      'revoke execute on function pg_catalog.pg_is_in_recovery() from public',
      'grant execute on function pg_catalog.pg_is_in_recovery() to public',
      ['bursar', 'serve'],
      /run `grant execute on function pg_is_in_recovery to bursar` as an administrator/,
    ],
    [
      'revoke usage on schema bursar from bursar',
      'grant usage on schema bursar to bursar',
      ['bursar', 'serve'],
      /denied for schema bursar; `npm run -s bursar -- migrate --yes` with the owner’s URL grants it/,
    ],
    [
      'alter function bursar.refuse_hidden_rows() owner to postgres',
      'alter function bursar.refuse_hidden_rows() owner to bursar_owner',
      ['bursar_owner', 'migrate'],
      /\nthe owner of function bursar\.refuse_hidden_rows\(\) is not as \S+ .*makes it\n$/,
    ],
  ]
  for (const [revoke, give, [role, ...words], told] of rights) {
    test(`is told what gives the right back after: ${revoke}`, async () => {
      await asSuperuser(revoke)
      const { code, err } = await runBursar(url(role), words)
      const findings = await found()
      await asSuperuser(give)
      assert.equal(code, 2, err)
      assert.match(err, told)
      assert.notDeepEqual(
        findings.filter(({ check }) => check !== 'surroundings'),
        [],
      )
    })
  }

  test('migrate names the rights on a database that its role may not grant', async () => {
    await execute(url('administrator', 'postgres'), 'create database lent')
    await execute(
      url('administrator', 'lent'),
      'revoke all on database lent from public; grant connect on database lent to bursar_owner',
    )
    const migrate = () => runBursar(url('bursar_owner', 'lent'), ['migrate'])
    const { code, err } = await migrate()
    const [, ...grants] = err.trim().split('\n')
    assert.deepEqual(
      [code, grants],
      [
        2,
        [
          'grant connect on database lent to bursar;',
          'grant connect on database lent to bursar_operator;',
          'grant temporary on database lent to bursar_operator;',
        ],
      ],
    )
    await execute(url('administrator', 'lent'), grants.join(' '))
    const due = /`(grant create on database lent to bursar_owner)` as an administrator/
    const [, grant = ''] = due.exec((await migrate()).err) ?? assert.fail()
    await execute(url('administrator', 'lent'), grant)
    const migrated = await migrate()
    assert.equal(migrated.code, 0, migrated.err)
  })

  for (const encoding of ['LATIN1', 'SQL_ASCII', 'EUC_JP']) {
    test(`migrate, serve and doctor refuse the encoding ${encoding}`, async () => {
      const set = (name: string) =>
        execute(
          url('postgres', 'postgres'),
          `update pg_database set encoding = pg_char_to_encoding('${name}') where datname = 'bursar'`,
        )
      await set(encoding)
      const ran = [
        await runBursar(url('bursar_owner'), ['migrate']),
        await runBursar(url('bursar'), ['serve']),
      ]
      const findings = await found()
      await set('UTF8')
      for (const { code, err } of ran) {
        assert.equal(code, 2)
        assert.match(err, new RegExp(`server_encoding = ${encoding} .*, not UTF8: .*template0`))
      }
      const [finding] = findings.filter(({ check }) => check === 'sessions')
      assert.match(String(finding?.what), new RegExp(`server_encoding = ${encoding} `))
    })
  }
})
