import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runBursar } from '../../../test/support/run-bursar.ts'
import {
  addressesOf,
  openTestDatabase,
  type TestDatabase,
} from '../../../test/support/test-database.ts'
import { withPrimary } from '../src/cluster/with-primary.ts'

const execute = (url: string, sql: string): Promise<void> =>
  withPrimary(addressesOf(url), (connection) => connection.execute(sql))

const roleUrl = ({ superuserUrl }: TestDatabase, role: string): string =>
  superuserUrl.replace('//postgres@', `//${role}@`)

const INSERT = `insert into bursar_audit.line (chain, sequence, at, key_id, body, digest)
  values ('c', 1, 0, 'k', '{}', 'd')`

test('the program’s roles may insert lines of the audit log, and do nothing else with it', async (t) => {
  const database = await openTestDatabase()
  t.after(database.drop)
  for (const role of ['bursar', 'bursar_operator']) {
    const url = roleUrl(database, role)
    await execute(url, INSERT.replace("'c'", `'${role}'`))
    for (const refused of [
      'select * from bursar_audit.line',
      `${INSERT.replace("'c'", "'other'")} returning body`,
      `update bursar_audit.line set body = 'x'`,
      'delete from bursar_audit.line',
      'truncate bursar_audit.line',
      'select * from bursar_audit.anchor',
      `insert into bursar_audit.anchor values ('c', 1, 'd', 'k', 's')`,
      'delete from bursar_audit.anchor',
      'drop table bursar_audit.line',
      'create table bursar_audit.other (id bigint)',
      `insert into bursar_audit.seen (customer, kind, id, at, chain, sequence, entry)
        values ('c', 'k', 'i', 1, 'c', 1, '{}')`,
      'delete from bursar_audit.seen',
      'select bursar_audit.note_seen()',
    ]) {
      await assert.rejects(
        execute(url, refused),
        /permission denied|must be owner|lacks a privilege/,
        `${role}: ${refused}`,
      )
    }
  }
})

test('the operator’s role reads who saw a record, and the customers’ role does not', async (t) => {
  const database = await openTestDatabase()
  t.after(database.drop)
  const body = `{"action":"view_in_full","actor":{"type":"client","id":"core"},"outcome":"done","kind":"fiat-accounts","ids":["i"],"view":"full","customer":"acme"}`
  await execute(roleUrl(database, 'bursar'), INSERT.replace('{}', body))
  await execute(roleUrl(database, 'bursar_operator'), 'select * from bursar_audit.seen')
  assert.deepEqual(
    await database.ask('select customer, kind, id, at::text from bursar_audit.seen'),
    [['acme', 'fiat-accounts', 'i', '0']],
  )
  await assert.rejects(
    execute(roleUrl(database, 'bursar'), 'select * from bursar_audit.seen'),
    /permission denied/,
  )
})

test('an auditor reads and verifies the log, and cannot change it', async (t) => {
  const database = await openTestDatabase()
  t.after(database.drop)
  // The statements of docs/running.md. A role belongs to all databases of the server.
  await database.ask(`do $$ begin create role bursar_auditor login;
    exception when duplicate_object or unique_violation then null; end $$`)
  await execute(
    database.ownerUrl,
    `grant usage on schema bursar_audit, bursar to bursar_auditor;
     grant select on bursar_audit.line, bursar_audit.anchor, bursar.purpose_key to bursar_auditor`,
  )
  await runBursar(database.operatorUrl, ['keys', 'list'])
  const auditor = roleUrl(database, 'bursar_auditor')
  const shown = await runBursar(auditor, ['audit'])
  assert.equal(shown.out.split('\n').length, 5, shown.err)
  const verified = await runBursar(auditor, ['audit', 'verify'])
  assert.match(verified.out, /^4 lines of 1 chain checked/, verified.err)
  const pruned = await runBursar(auditor, ['audit', 'prune'])
  assert.equal(pruned.code, 1)
  assert.match(pruned.err, /^This role has no right to the audit log/)
  const asServer = await runBursar(database.url, ['audit'])
  assert.deepEqual([asServer.code, asServer.out], [2, ''])
  const { username: owner } = new URL(database.ownerUrl)
  for (const url of [database.url, database.operatorUrl, auditor]) {
    const { err } = await runBursar(url, ['compact'])
    assert.ok(err.includes(`Use the URL of ${owner}, the database’s owner`), err)
  }
})

test('what the audit log knows of clients, tokens and keys can only be added to', async (t) => {
  const database = await openTestDatabase()
  t.after(database.drop)
  const marks = {
    client_mark: `values ('c', 1, 0, 's', '', 's')`,
    token_end: `values ('j', 1)`,
    key_end: `values ('k', 1)`,
    destroyed_key: `values ('f', 1)`,
  }
  const changed: Readonly<Record<string, string>> = {
    client_mark: 'seal',
    token_end: 'jti',
    key_end: 'id',
    destroyed_key: 'fingerprint',
  }
  const changes = (table: string) => [
    `update bursar_audit.${table} set ${changed[table]} = 'x'`,
    `delete from bursar_audit.${table}`,
    `truncate bursar_audit.${table}`,
  ]
  const asRole = (role: string, sql: string) => execute(roleUrl(database, role), sql)
  for (const [table, values] of Object.entries(marks)) {
    await asRole('bursar_operator', `insert into bursar_audit.${table} ${values}`)
    // A server revokes tokens, and hashes a secret again. A mark needs a key besides.
    const isForServers = ['token_end', 'client_mark'].includes(table)
    const added = asRole('bursar', `insert into bursar_audit.${table} ${values.replace("'", "'2")}`)
    await (isForServers ? added : assert.rejects(added, /permission denied/))
    for (const role of ['bursar', 'bursar_operator']) {
      await asRole(role, `select * from bursar_audit.${table}`)
      for (const change of changes(table)) {
        await assert.rejects(asRole(role, change), /permission denied/, `${role}: ${change}`)
      }
    }
  }
})

test('migrate is audited as the owner once the store has keys, and then needs the master key', async (t) => {
  const database = await openTestDatabase()
  t.after(database.drop)
  const first = await runBursar(database.ownerUrl, ['migrate'], '', { BURSAR_MASTER_KEY: '' })
  assert.equal(first.code, 0, first.err)
  await runBursar(database.operatorUrl, ['keys', 'list'])
  const without = await runBursar(database.ownerUrl, ['migrate'], '', { BURSAR_MASTER_KEY: '' })
  assert.deepEqual([without.code, without.out], [2, ''])
  assert.match(without.err, /^BURSAR_MASTER_KEY is not set/)
  const second = await runBursar(database.ownerUrl, ['migrate'])
  assert.equal(second.code, 0, second.err)
  const shown = await runBursar(database.ownerUrl, ['audit', '--json', '--action', 'command'])
  const events = shown.out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  assert.deepEqual(
    events.map(({ command, outcome, actor }) => [command.name, outcome, actor.type]),
    [
      ['keys list', 'begun', 'os_user'],
      ['keys list', 'done', 'os_user'],
      ['migrate', 'begun', 'os_user'],
      ['migrate', 'done', 'os_user'],
    ],
  )
})
