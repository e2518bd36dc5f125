import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import { type Clock, loadConfig, systemTime } from '@bursar/base'
import { lastArchivedAt } from '@bursar/server/stores'
import {
  durableSettings,
  type PostgresServer,
  startPostgres,
} from '../../../test/support/postgres-server.ts'
import { runBursar } from '../../../test/support/run-bursar.ts'
import { doctorFindings } from '../../../test/support/run-doctor.ts'
import {
  addressesOf,
  execute,
  prepareServer,
  testStore,
} from '../../../test/support/test-database.ts'
import { until } from '../../../test/support/until.ts'
import { backupCheck } from '../../cli/src/doctor/backup-check.ts'
import { openStateless } from '../src/cluster/with-primary.ts'
import { postgresChecks } from '../src/inspect/postgres-checks.ts'
import { migratePostgres } from '../src/schema/migrate.ts'

/** What `doctor` finds in a database. Settings and roles are of a server, so it has its own. */
describe('doctor on PostgreSQL', { skip: testStore !== 'postgres' && 'needs PostgreSQL' }, () => {
  let primary: PostgresServer
  let standby: PostgresServer
  const roles = { app: 'bursar', operator: 'bursar_operator' }
  const masterKey = randomBytes(32).toString('base64')
  const url = (role: string) => primary.url(role, 'bursar_template')
  const asSuperuser = (sql: string) => execute(url('postgres'), sql)

  const atStandby = async (sql: string) => {
    const [address] = addressesOf(standby.url('postgres', 'bursar_template'))
    const connection = openStateless(address ?? assert.fail())
    await connection.execute(sql)
    await connection.close()
  }

  before(async () => {
    const settings = [...durableSettings, 'archive_mode = on', `archive_command = 'true'`]
    primary = await startPostgres({ settings })
    await prepareServer(primary)
    standby = await primary.addStandby('reader')
    await asSuperuser(`alter system set synchronous_standby_names = 'reader'`)
    await asSuperuser('select pg_reload_conf()')
  })
  after(async () => {
    await standby.stop()
    await primary.stop()
  })

  const environment = () => ({
    BURSAR_MASTER_KEY: masterKey,
    OPERATOR_DATABASE_URL: url('bursar_operator'),
    DATABASE_READ_URLS: standby.url('bursar', 'bursar_template'),
  })

  const inspected = async (
    env: Readonly<Record<string, string>> = {},
    clock: Clock = systemTime.now,
  ) => {
    const DATABASE_URL = url('bursar')
    const config = loadConfig({ env: { DATABASE_URL, ...environment(), ...env }, file: null })
    const found = await Promise.all(
      postgresChecks({ config, clock }).map(async ({ name, find }) =>
        (await find()).map((finding) => `${name}: ${finding.what}`),
      ),
    )
    return found.flat()
  }

  test('finds nothing in a sound database', async () => {
    await until(async () => (await inspected()).length === 0)
    assert.deepEqual(await inspected(), [])
  })

  test('says one thing of a database before its first migrate, which wants empty schemas', async () => {
    await execute(primary.url('postgres', 'postgres'), 'create database empty owner owner')
    const of = (role: string) => primary.url(role, 'empty')
    const env = { DATABASE_URL: of('bursar'), OPERATOR_DATABASE_URL: of('bursar_operator') }
    assert.deepEqual(await inspected(env), ['schema: The database has no Bursar schema'])
    await execute(
      of('owner'),
      'create schema bursar; create function bursar.planted() returns bigint language sql return 1',
    )
    await assert.rejects(
      migratePostgres(addressesOf(of('owner')), roles),
      /which it has not made \(function bursar\.planted\(\), /,
    )
    await execute(of('owner'), 'drop schema bursar cascade')
    await execute(
      primary.url('postgres', 'empty'),
      'create schema bursar; grant all on schema bursar to owner',
    )
    await assert.rejects(
      migratePostgres(addressesOf(of('owner')), roles),
      /which it has not made \(schema bursar, /,
    )
    await execute(primary.url('postgres', 'empty'), 'drop schema bursar')
    await execute(
      of('owner'),
      `alter default privileges for role owner grant select on tables to bursar_operator, public`,
    )
    await migratePostgres(addressesOf(of('owner')), roles)
    const [found, ...rest] = await inspected(env)
    assert.match(String(found), /^surroundings: the default privileges of role owner /)
    assert.deepEqual(rest, [])
  })

  test('is a command that reads the database too', async () => {
    const fees = { BURSAR_ACCEPT_SAMPLE_FEES: 'true' }
    const found = await doctorFindings(() =>
      runBursar(url('bursar'), ['doctor', '--json', '--backup', 'package.json'], '', {
        ...environment(),
        ...fees,
      }),
    )
    const own = found.filter(({ check }) => check !== 'backup')
    assert.deepEqual(own, [])
  })

  /** Each row causes a finding and takes it back. */
  const causes: readonly (readonly [cause: string, back: string, what: RegExp])[] = [
    [
      'create role managed bypassrls; grant managed to bursar',
      'drop role managed',
      /^roles: the role bursar is a member of managed, which may bypass row-level security$/,
    ],
    [
      'grant delete on bursar.history to bursar',
      'revoke delete on bursar.history from bursar',
      /^schema: the right of bursar to delete on table bursar\.history is not one that /,
    ],
    [
      'revoke insert on bursar.origin from bursar_operator',
      'grant insert on bursar.origin to bursar_operator',
      /^schema: the right of bursar_operator to insert on table bursar\.origin is missing$/,
    ],
    [
      'grant select on bursar_audit.line to bursar_operator',
      'revoke select on bursar_audit.line from bursar_operator',
      /^schema: the right of bursar_operator to select on table bursar_audit\.line is not one /,
    ],
    [
      'revoke insert on bursar_audit.line from bursar',
      'grant insert on bursar_audit.line to bursar',
      /^schema: the right of bursar to insert on table bursar_audit\.line is missing$/,
    ],
    [
      'alter table bursar.statement no force row level security',
      'alter table bursar.statement force row level security',
      /^schema: the row-level security of bursar\.statement is not as /,
    ],
    [
      'create policy second on bursar.statement for select using (true)',
      'drop policy second on bursar.statement',
      /^schema: the policy second of bursar\.statement is not one that /,
    ],
    [
      'alter policy customer on bursar.statement using (true)',
      `alter policy customer on bursar.statement
        using (customer = nullif(current_setting('bursar.customer', true), '')::integer)`,
      /^schema: the policy customer of bursar\.statement is not as /,
    ],
    [
      'drop policy operator on bursar.statement',
      'create policy operator on bursar.statement to bursar_operator using (true) with check (true)',
      /^schema: the policy operator of bursar\.statement is missing$/,
    ],
    [
      'create policy narrow on bursar.statement as restrictive to bursar using (false)',
      'drop policy narrow on bursar.statement',
      /^schema: the policy narrow of bursar\.statement is not one that /,
    ],
    [
      'alter policy operator on bursar.statement to bursar_operator, bursar',
      'alter policy operator on bursar.statement to bursar_operator',
      /^schema: the policy operator of bursar\.statement is not as /,
    ],
    [
      'alter policy forgetting on bursar.denied_token using (true)',
      `alter policy forgetting on bursar.denied_token
        using (expires_at <= (extract(epoch from statement_timestamp()) * 1000000)::bigint)`,
      /^schema: the policy forgetting of bursar\.denied_token is not as /,
    ],
    [
      'alter table bursar.denied_token disable row level security',
      'alter table bursar.denied_token enable row level security',
      /^schema: the row-level security of bursar\.denied_token is not as /,
    ],
    [
      `insert into bursar.customer (id) values ('one');
       create policy second on bursar.customer for select using (true)`,
      `drop policy second on bursar.customer; delete from bursar.customer where id = 'one'`,
      /^row-security: the role of customers sees rows of table customer that are of no customer/,
    ],
    [
      'create view public.shown as select * from bursar.statement; grant select on public.shown to public',
      'drop view public.shown',
      /^surroundings: the view public\.shown shows tables of Bursar$/,
    ],
    [
      `create view public.inner_view as select id from bursar.statement;
       create view public.shown as select * from public.inner_view;
       grant select (id) on public.shown to bursar`,
      'drop view public.shown, public.inner_view',
      /^surroundings: the view public\.shown shows tables of Bursar$/,
    ],
    [
      'create view bursar.shown as select 1 as one; grant select on bursar.shown to bursar',
      'drop view bursar.shown',
      /^schema: the view bursar\.shown is not one that /,
    ],
    [
      `create function public.shown() returns bigint language sql security definer
        as 'select count(*) from bursar.statement'`,
      'drop function public.shown()',
      /^surroundings: the function public\.shown\(\) runs with the rights of role postgres, /,
    ],
    [
      'grant execute on function bursar_audit.note_seen() to public',
      'revoke execute on function bursar_audit.note_seen() from public',
      /^schema: the right of public to execute on routine bursar_audit\.note_seen\(\) is not one /,
    ],
    [
      'revoke execute on function bursar.clock_microseconds() from public',
      'grant execute on function bursar.clock_microseconds() to public',
      /^schema: the right of public to execute on routine bursar\.clock_microseconds\(\) is missing$/,
    ],
    [
      'grant update (disabled_at) on bursar.client to bursar',
      'revoke update (disabled_at) on bursar.client from bursar',
      /^schema: the right of bursar to update \(disabled_at\) on table bursar\.client is not one /,
    ],
    [
      'revoke update (last_used_at) on bursar.client from bursar',
      'grant update (last_used_at) on bursar.client to bursar',
      /^schema: the right of bursar to update \(last_used_at\) on table bursar\.client is missing$/,
    ],
    [
      'grant select (body) on bursar_audit.line to public',
      'revoke select (body) on bursar_audit.line from public',
      /^schema: the right of public to select \(body\) on table bursar_audit\.line is not one /,
    ],
    [
      'grant references on bursar.client to public',
      'revoke references on bursar.client from public',
      /^schema: the right of public to references on table bursar\.client is not one /,
    ],
    [
      'grant create on schema bursar to bursar_operator',
      'revoke create on schema bursar from bursar_operator',
      /^schema: the right of bursar_operator to create on schema bursar is not one /,
    ],
    [
      'grant create on database bursar_template to bursar',
      'revoke create on database bursar_template from bursar',
      /^roles: the role bursar may create schemas in the database$/,
    ],
    [
      'grant update on sequence bursar.origin_id_seq to public',
      'revoke update on sequence bursar.origin_id_seq from public',
      /^schema: the right of public to update on sequence bursar\.origin_id_seq is not one /,
    ],
    [
      'create table public.twin () inherits (bursar.statement)',
      'drop table public.twin',
      /^schema: the table bursar\.statement is not as /,
    ],
    [
      'alter table bursar.client owner to bursar_operator',
      `alter table bursar.client owner to owner;
       grant select, insert, update, delete on bursar.client to bursar_operator`,
      /^schema: the table bursar\.client is not as /,
    ],
    [
      'alter function bursar_audit.stored(text[], bigint[], bigint[], text[], text[], text[]) owner to postgres',
      'alter function bursar_audit.stored(text[], bigint[], bigint[], text[], text[], text[]) owner to owner',
      /^schema: the owner of function bursar_audit\.stored\(.*\) is not as /,
    ],
    [
      'alter table bursar.purpose_key drop constraint purpose_key_purpose_is_known',
      `alter table bursar.purpose_key add constraint purpose_key_purpose_is_known check (purpose in (
        'cursor', 'client-secret', 'client-row', 'token-signing', 'audit', 'customer-key',
        'name-index', 'customer-number', 'import'))`,
      /^schema: the constraint purpose_key_purpose_is_known of bursar\.purpose_key is missing$/,
    ],
    [
      'alter table bursar.import alter column role drop default',
      'alter table bursar.import alter column role set default session_user',
      /^schema: the table bursar\.import is not as /,
    ],
    [
      'grant insert on bursar.origin to bursar_operator with grant option',
      'revoke grant option for insert on bursar.origin from bursar_operator',
      /^schema: the right of bursar_operator to insert on table bursar\.origin is not as /,
    ],
    [
      'create role reporting; grant select on bursar.statement to reporting',
      'drop owned by reporting; drop role reporting',
      /^schema: the right of reporting to select on table bursar\.statement is not one that /,
    ],
    [
      'alter role bursar set search_path = public',
      'alter role bursar reset search_path',
      /^roles: the role bursar has the setting search_path=public$/,
    ],
    [
      'alter role bursar in database bursar_template set row_security = off',
      'alter role bursar in database bursar_template reset row_security',
      /^roles: the role bursar has the setting row_security=off$/,
    ],
    [
      `update bursar.made_object set digest = '14 1' where object = 'server'`,
      `update bursar.made_object set digest = concat_ws(' ',
         current_setting('server_version_num')::integer / 10000, system_identifier,
         'bursar'::regnamespace::oid) from pg_control_system() where object = 'server'`,
      /^schema: the objects of the schema were made by another version of PostgreSQL, .*migrate/,
    ],
    [
      'create role staff; grant staff to bursar',
      'drop role staff',
      /^roles: the role bursar is a member of staff$/,
    ],
    [
      'alter role bursar createrole replication',
      'alter role bursar nocreaterole noreplication',
      /^roles: the role bursar may copy the whole database by replication$/,
    ],
    [
      `create function public.drop_line() returns trigger language plpgsql
        as $$ begin return null; end $$;
       create trigger dropping after insert on bursar_audit.line
         for each row execute function public.drop_line()`,
      'drop trigger dropping on bursar_audit.line; drop function public.drop_line()',
      /^schema: the trigger dropping of bursar_audit\.line is not one that /,
    ],
    [
      'alter table bursar.client disable trigger stamped',
      'alter table bursar.client enable trigger stamped',
      /^schema: the trigger stamped of bursar\.client is not as /,
    ],
    [
      'create rule dropping as on delete to bursar.client do instead nothing',
      'drop rule dropping on bursar.client',
      /^schema: the rule dropping of bursar\.client is not one that /,
    ],
    [
      `alter trigger stamped on bursar.client rename to stamped_once;
       create trigger stamped before insert or update of name on bursar.client
         for each row execute function bursar.stamp_revision()`,
      `drop trigger stamped on bursar.client;
       alter trigger stamped_once on bursar.client rename to stamped`,
      /^schema: the trigger stamped of bursar\.client is not as /,
    ],
    [
      'alter trigger counts_up on bursar.credential_revision rename to counts',
      'alter trigger counts on bursar.credential_revision rename to counts_up',
      /^schema: the trigger counts_up of bursar\.credential_revision is missing$/,
    ],
    [
      `alter function bursar.keep_or_erase() rename to kept_aside;
       create function bursar.keep_or_erase() returns trigger language plpgsql
         set search_path = pg_catalog as $$ begin return new; end $$`,
      `drop function bursar.keep_or_erase();
       alter function bursar.kept_aside() rename to keep_or_erase`,
      /^schema: the function bursar\.keep_or_erase\(\) is not as /,
    ],
    [
      'alter function bursar_audit.note_seen() security invoker',
      'alter function bursar_audit.note_seen() security definer',
      /^schema: the function bursar_audit\.note_seen\(\) is not as /,
    ],
    [
      'alter function bursar.refuse_hidden_rows() reset search_path',
      'alter function bursar.refuse_hidden_rows() set search_path = pg_catalog',
      /^schema: the function bursar\.refuse_hidden_rows\(\) is not as /,
    ],
    [
      'alter function bursar.stamp_revision() rename to stamped',
      'alter function bursar.stamped() rename to stamp_revision',
      /^schema: the function bursar\.stamp_revision\(\) is missing$/,
    ],
    [
      `create function bursar.added() returns bigint language sql as 'select 1'`,
      'drop function bursar.added()',
      /^schema: the function bursar\.added\(\) is not one that /,
    ],
    [
      'alter default privileges for role owner grant select on tables to public',
      'alter default privileges for role owner revoke select on tables from public',
      /^surroundings: the default privileges of role owner change the rights on new tables$/,
    ],
    [
      'alter default privileges in schema bursar grant execute on functions to bursar',
      'alter default privileges in schema bursar revoke execute on functions from bursar',
      /^surroundings: the default privileges of role postgres in schema bursar change the rights on new functions$/,
    ],
    [
      `create function public.at_ddl() returns event_trigger language plpgsql as $$ begin end $$;
       create event trigger at_ddl on ddl_command_end execute function public.at_ddl()`,
      'drop event trigger at_ddl; drop function public.at_ddl()',
      /^surroundings: the event trigger at_ddl runs public\.at_ddl at ddl_command_end$/,
    ],
    [
      `alter role bursar set log_statement = 'all'; alter role bursar set log_min_duration_statement = 1000`,
      'alter role bursar reset log_statement; alter role bursar reset log_min_duration_statement',
      /^surroundings: the server writes values of statements to its log \(log_min_duration_statement = 1000, log_statement = all\)$/,
    ],
    [
      'create publication records for table bursar.statement',
      'drop publication records',
      /^surroundings: the publication records has table bursar\.statement$/,
    ],
    [
      'create publication everything for all tables',
      'drop publication everything',
      /^surroundings: the publication everything has \d+ tables of Bursar$/,
    ],
    [
      `create subscription records connection 'dbname=nowhere' publication records
         with (connect = false, slot_name = none, enabled = false);
       insert into pg_subscription_rel
         select oid, 'bursar.statement'::regclass, 'i', null from pg_subscription`,
      'drop subscription records',
      /^surroundings: the subscription records writes table bursar\.statement$/,
    ],
    [
      `update pg_index set indisvalid = false where indexrelid = 'bursar.statement_by_ref_id'::regclass`,
      `update pg_index set indisvalid = true where indexrelid = 'bursar.statement_by_ref_id'::regclass`,
      /^schema: the index (bursar.)?statement_by_ref_id is not valid; run reindex$/,
    ],
    [
      `update bursar.schema_migration set fingerprint = 'other' || fingerprint`,
      `update bursar.schema_migration set fingerprint = substr(fingerprint, 6)`,
      /^schema: The database's schema has another form of the step records/,
    ],
  ]

  for (const [cause, back, what] of causes) {
    test(`finds what follows from: ${cause}`, async () => {
      await asSuperuser(cause)
      try {
        const found = await inspected()
        assert.ok(
          found.some((finding) => what.test(finding)),
          JSON.stringify(found),
        )
      } finally {
        await asSuperuser(back)
      }
    })
  }

  test('checks the keys of a store beside which a host has an event trigger', async () => {
    await asSuperuser(`
      create function public.at_ddl() returns event_trigger language plpgsql as $$ begin end $$;
      create event trigger at_ddl on ddl_command_end execute function public.at_ddl()`)
    const { out } = await runBursar(url('bursar'), ['doctor', '--json'], '', environment())
    await asSuperuser('drop event trigger at_ddl; drop function public.at_ddl()')
    const checks: readonly { name: string; status: string }[] = JSON.parse(out).checks
    const statusOf = (wanted: string) => checks.find(({ name }) => name === wanted)?.status
    assert.deepEqual(['surroundings', 'keys'].map(statusOf), ['failed', 'ok'])
  })

  test('migrate says what was changed, and replaces it only when it is told to', async () => {
    await asSuperuser(`
      grant all on bursar.client, bursar_audit.line, bursar_audit.seen to public;
      grant update (name) on bursar.client to bursar;
      grant all on schema bursar, bursar_audit to public;
      grant all on all sequences in schema bursar to bursar_operator;
      revoke execute on function bursar.clock_microseconds() from public;
      alter table bursar.statement no force row level security;
      create policy second on bursar.statement for select using (true);
      alter policy customer on bursar.history using (true);
      alter table bursar.client disable trigger stamped;
      create rule dropping as on delete to bursar.client do instead nothing;
      create or replace function bursar.keep_or_erase() returns trigger language plpgsql
        as $$ begin return new; end $$;
      drop trigger seen on bursar_audit.line;
      drop function bursar_audit.note_seen();
      create function bursar.added() returns bigint language sql as 'select 1';
      alter function bursar.added() owner to owner`)
    const changed = await inspected()
    const migrate = (replaces: boolean) =>
      migratePostgres(addressesOf(url('owner')), roles, { replaces })
    const listed = [
      'the right of public to select on table bursar_audit.line is not one',
      'the policy second of bursar.statement is not one',
      'the function bursar.added() is not one',
    ]
    await assert.rejects(migrate(false), ({ message }: Error) =>
      listed.every((line) => message.includes(line)),
    )
    assert.deepEqual(await inspected(), changed)
    await migrate(true)
    assert.deepEqual(await inspected(), [])
    await migrate(false)
  })

  test('migrate does not mend a table, and changes nothing then', async () => {
    await asSuperuser(
      'alter table bursar.origin add column more text; grant delete on bursar.origin to bursar',
    )
    await assert.rejects(
      migratePostgres(addressesOf(url('owner')), roles, { replaces: true }),
      /Mend this as the owner .*nothing was changed:\nthe table bursar\.origin is not as /,
    )
    assert.equal((await inspected()).length, 2)
    await asSuperuser(
      'alter table bursar.origin drop column more; revoke delete on bursar.origin from bursar',
    )
    assert.deepEqual(await inspected(), [])
  })

  test('finds a role that row-level security does not limit', async () => {
    const [found] = await inspected({ DATABASE_URL: url('postgres') })
    assert.match(
      String(found),
      /^roles: DATABASE_URL must not name the role postgres: it is a super/,
    )
    const [operator] = await inspected({ OPERATOR_DATABASE_URL: url('bursar') })
    assert.match(String(operator), /^roles: The role bursar is not the operator’s/)
  })

  test('finds settings with which a crash loses changes', async () => {
    for (const setting of ['fsync', 'full_page_writes', 'synchronous_commit']) {
      await asSuperuser(`alter system set ${setting} = off`)
      await asSuperuser('select pg_reload_conf()')
      await until(async () => (await inspected()).includes(`durability: ${setting} is off`))
      await asSuperuser(`alter system reset ${setting}`)
      await asSuperuser('select pg_reload_conf()')
    }
    // The settings of the server's file are those of the tests.
    await until(async () => (await inspected()).length === 0)
  })

  test('finds a clock that differs from the database’s', async () => {
    const [found] = await inspected({}, () => systemTime.now() + 5_000_000n)
    assert.match(
      String(found),
      /^clock: the clock of this machine is (49\d\d|5000) ms ahead of the database’s$/,
    )
  })

  test('finds a server that does not answer', async () => {
    const closed = `postgres://bursar@127.0.0.1:9/bursar_template`
    assert.match(
      String(await inspected({ DATABASE_READ_URLS: closed })),
      /^database: 127\.0\.0\.1:9 cannot be used: /,
    )
    const everyMember = `${url('bursar')},${standby.url('bursar', 'bursar_template')}`
    assert.deepEqual(await inspected({ DATABASE_READ_URLS: everyMember }), [])
  })

  test('finds a standby whose replay is paused, and one that no commit waits for', async () => {
    await atStandby('select pg_wal_replay_pause()')
    assert.deepEqual(await inspected(), [
      `standbys: the replay of 127.0.0.1:${standby.port} is paused`,
    ])
    await atStandby('select pg_wal_replay_resume()')
    await asSuperuser('alter system reset synchronous_standby_names')
    await asSuperuser('select pg_reload_conf()')
    await until(async () => (await inspected()).length > 0)
    assert.deepEqual(await inspected(), [
      'standbys: no standby is synchronous (synchronous_standby_names is empty)',
    ])
    await asSuperuser(`alter system set synchronous_standby_names = 'reader'`)
    await asSuperuser('select pg_reload_conf()')
  })

  test('finds roles without the settings that a pooler needs', async () => {
    const found = await inspected({ BURSAR_POOLER: 'transaction', DATABASE_READ_URLS: '' })
    assert.match(String(found), /sessions: the sessions of role bursar have DateStyle = /)
    assert.match(String(found), /pooler: the sessions of role bursar have enable_bitmapscan = on /)
  })

  test('finds that the log was not archived for a day', async () => {
    const config = loadConfig({ env: { DATABASE_URL: url('bursar') }, file: null })
    const archived = () => lastArchivedAt(config)
    await asSuperuser('create table public.archived (one int); drop table public.archived')
    await asSuperuser('select pg_switch_wal()')
    await until(async () => (await archived()) !== undefined)
    const backups = { lastAt: archived, advice: 'archive the log' }
    assert.deepEqual(await backupCheck(backups, systemTime.now).find(), [])
    const aDayLater = () => systemTime.now() + 27n * 3_600_000_000n
    const [found] = await backupCheck(backups, aDayLater).find()
    assert.equal(found?.what, 'the newest backup is 27 hours old')
  })

  test('finds a standby that has become a primary of its own', async () => {
    await atStandby('select pg_promote()')
    await asSuperuser('alter system reset synchronous_standby_names')
    await asSuperuser('select pg_reload_conf()')
    const own = `standbys: 127.0.0.1:${standby.port} of DATABASE_READ_URLS is no standby`
    await until(async () => (await inspected()).includes(own))
  })
})
