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
      /^roles: the role bursar may delete on history$/,
    ],
    [
      'revoke insert on bursar.origin from bursar_operator',
      'grant insert on bursar.origin to bursar_operator',
      /^roles: the role bursar_operator may not insert on origin$/,
    ],
    [
      'grant select on bursar_audit.line to bursar_operator',
      'revoke select on bursar_audit.line from bursar_operator',
      /^roles: the role bursar_operator may select on bursar_audit\.line$/,
    ],
    [
      'revoke insert on bursar_audit.line from bursar',
      'grant insert on bursar_audit.line to bursar',
      /^roles: the role bursar may not insert on bursar_audit\.line$/,
    ],
    [
      'alter table bursar.statement no force row level security',
      'alter table bursar.statement force row level security',
      /^row-security: row-level security does not limit table statement to one customer$/,
    ],
    [
      'create policy second on bursar.statement for select using (true)',
      'drop policy second on bursar.statement',
      /^row-security: the policy second of table statement is not one that /,
    ],
    [
      'alter policy customer on bursar.statement using (true)',
      `alter policy customer on bursar.statement
        using (customer = nullif(current_setting('bursar.customer', true), '')::integer)`,
      /^row-security: table statement lacks a policy that /,
    ],
    [
      'drop policy operator on bursar.statement',
      'create policy operator on bursar.statement to bursar_operator using (true) with check (true)',
      /^row-security: table statement lacks a policy that /,
    ],
    [
      'create policy narrow on bursar.statement as restrictive to bursar using (false)',
      'drop policy narrow on bursar.statement',
      /^row-security: the policy narrow of table statement is not one that /,
    ],
    [
      'alter policy operator on bursar.statement to bursar_operator, bursar',
      'alter policy operator on bursar.statement to bursar_operator',
      /^row-security: the policy operator of table statement is not one that /,
    ],
    [
      'alter policy forgetting on bursar.denied_token using (true)',
      `alter policy forgetting on bursar.denied_token
        using (expires_at <= (extract(epoch from statement_timestamp()) * 1000000)::bigint)`,
      /^row-security: the policy forgetting of table denied_token is not one that /,
    ],
    [
      'alter table bursar.denied_token disable row level security',
      'alter table bursar.denied_token enable row level security',
      /^row-security: row-level security does not limit table denied_token to one customer$/,
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
      /^roles: the role bursar may select on view public\.shown$/,
    ],
    [
      `create view public.inner_view as select id from bursar.statement;
       create view public.shown as select * from public.inner_view;
       grant select (id) on public.shown to bursar`,
      'drop view public.shown, public.inner_view',
      /^roles: the role bursar may select on view public\.shown$/,
    ],
    [
      'create view bursar.shown as select 1 as one; grant select on bursar.shown to bursar',
      'drop view bursar.shown',
      /^roles: the role bursar may select on shown$/,
    ],
    [
      `create function public.shown() returns bigint language sql security definer
        as 'select count(*) from bursar.statement'`,
      'drop function public.shown()',
      /^roles: the role bursar may execute on function public\.shown$/,
    ],
    [
      'grant execute on function bursar_audit.note_seen() to public',
      'revoke execute on function bursar_audit.note_seen() from public',
      /^roles: the role bursar may execute on function bursar_audit\.note_seen$/,
    ],
    [
      'revoke execute on function bursar.clock_microseconds() from public',
      'grant execute on function bursar.clock_microseconds() to public',
      /^roles: the role bursar may not execute on function clock_microseconds$/,
    ],
    [
      'grant update (disabled_at) on bursar.client to bursar',
      'revoke update (disabled_at) on bursar.client from bursar',
      /^roles: the role bursar may update on client \(disabled_at\)$/,
    ],
    [
      'revoke update (last_used_at) on bursar.client from bursar',
      'grant update (last_used_at) on bursar.client to bursar',
      /^roles: the role bursar may not update on client \(last_used_at\)$/,
    ],
    [
      'grant select (body) on bursar_audit.line to public',
      'revoke select (body) on bursar_audit.line from public',
      /^roles: the role bursar may select on bursar_audit\.line \(body\)$/,
    ],
    [
      'grant references on bursar.client to public',
      'revoke references on bursar.client from public',
      /^roles: the role bursar_operator may references on client$/,
    ],
    [
      'grant create on schema bursar to bursar_operator',
      'revoke create on schema bursar from bursar_operator',
      /^roles: the role bursar_operator may create on schema bursar$/,
    ],
    [
      'grant create on database bursar_template to bursar',
      'revoke create on database bursar_template from bursar',
      /^roles: the role bursar may create on database bursar_template$/,
    ],
    [
      'grant update on sequence bursar.origin_id_seq to public',
      'revoke update on sequence bursar.origin_id_seq from public',
      /^roles: the role bursar may update on sequence origin_id_seq$/,
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
      /^schema: the trigger dropping of bursar_audit\.line is not one of this program$/,
    ],
    [
      'alter table bursar.client disable trigger stamped',
      'alter table bursar.client enable trigger stamped',
      /^schema: the trigger stamped of bursar\.client is disabled$/,
    ],
    [
      'create rule dropping as on delete to bursar.client do instead nothing',
      'drop rule dropping on bursar.client',
      /^schema: the rule dropping of bursar\.client is not one of this program$/,
    ],
    [
      `alter trigger stamped on bursar.client rename to stamped_once;
       create trigger stamped before insert or update of name on bursar.client
         for each row execute function bursar.stamp_revision()`,
      `drop trigger stamped on bursar.client;
       alter trigger stamped_once on bursar.client rename to stamped`,
      /^schema: the trigger stamped of bursar\.client is not as this program makes it$/,
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
      /^schema: the function bursar\.keep_or_erase is not as this program makes it$/,
    ],
    [
      'alter function bursar_audit.note_seen() security invoker',
      'alter function bursar_audit.note_seen() security definer',
      /^schema: the function bursar_audit\.note_seen is not as this program makes it$/,
    ],
    [
      'alter function bursar.refuse_hidden_rows() reset search_path',
      'alter function bursar.refuse_hidden_rows() set search_path = pg_catalog',
      /^schema: the function bursar\.refuse_hidden_rows is not as this program makes it$/,
    ],
    [
      'alter function bursar.stamp_revision() rename to stamped',
      'alter function bursar.stamped() rename to stamp_revision',
      /^schema: the function bursar\.stamp_revision is missing$/,
    ],
    [
      `create function bursar.added() returns bigint language sql as 'select 1'`,
      'drop function bursar.added()',
      /^schema: the function bursar\.added is not one of this program$/,
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

  test('finds nothing after migrate has taken back what was granted', async () => {
    await asSuperuser(`
      grant all on bursar.client, bursar_audit.line, bursar_audit.seen to public;
      grant update (name) on bursar.client to bursar;
      grant all on schema bursar, bursar_audit to public;
      grant all on all sequences in schema bursar to bursar_operator`)
    assert.notDeepEqual(await inspected(), [])
    await migratePostgres(addressesOf(url('owner')), {
      app: 'bursar',
      operator: 'bursar_operator',
    })
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
