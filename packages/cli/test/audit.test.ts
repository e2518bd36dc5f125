import assert from 'node:assert/strict'
import { appendFileSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, test } from 'node:test'
import { DAY_MICROS, limitNamed, loadConfig, parseInstant, purposes } from '@bursar/base'
import type { AuditEntry } from '@bursar/contract'
import type { AuditLine, AuditReader } from '@bursar/records'
import { auditOf, changeAuditLog as change } from '../../../test/support/audit.ts'
import { openPlace, type StoreLocation, temporaryFolder } from '../../../test/support/harness.ts'
import { runProgram } from '../../../test/support/program.ts'
import { aFiatAccount, anId } from '../../../test/support/records.ts'
import { runBursar } from '../../../test/support/run-bursar.ts'
import { testStore } from '../../../test/support/test-database.ts'
import { hourMs, systemMs } from '../../../test/support/until.ts'
import { takeTime } from '../../../test/support/virtual-time.ts'
import { openFollowing } from '../src/audit/select-lines.ts'

const folder = temporaryFolder()
const places: StoreLocation[] = []
after(() => Promise.all(places.map((place) => place.remove())))

async function newPlace(): Promise<StoreLocation> {
  const place = await openPlace()
  places.push(place)
  if (testStore === 'sqlite') await runBursar(place.commandUrl, ['migrate'])
  return place
}

/** The URL of who may read the log. */
const auditorOf = ({ superuserUrl, commandUrl }: StoreLocation): string =>
  superuserUrl ?? commandUrl

const own = {
  type: 'os_user',
  name: userInfo().username,
  ...(testStore === 'postgres' && { database_role: 'bursar_operator' }),
}

const commandsOf = (entries: readonly AuditEntry[]) =>
  entries.filter(({ action }) => action === 'command')

const importOf = (place: StoreLocation, ...options: string[]) =>
  runBursar(
    place.commandUrl,
    ['import', 'fiat-accounts', '-', ...options],
    `${JSON.stringify(aFiatAccount())}\n`,
  )

test('a command has an entry before its work, and one after it with what it changed', async () => {
  const place = await newPlace()
  await importOf(place, '--customer', 'acme', '--expect', '1')
  const entries = await auditOf(place)
  assert.deepEqual(
    entries.map(({ action, outcome }) => [action, outcome]),
    [
      ['open_log', 'done'],
      ['find_schema', 'done'],
      ['command', 'begun'],
      ['command', 'done'],
    ],
  )
  const steps = entries[1]?.steps?.map(({ name }) => name).toSorted()
  assert.deepEqual(steps, ['credentials', 'records'])
  const [begun, done] = commandsOf(entries)
  const command = {
    name: 'import',
    arguments: ['fiat-accounts', '-'],
    options: { '--customer': 'acme', '--expect': '1' },
  }
  assert.deepEqual(begun, { action: 'command', actor: own, outcome: 'begun', command })
  const { ids = [], ...rest } = done ?? assert.fail()
  assert.deepEqual(rest, {
    ...begun,
    outcome: 'done',
    kind: 'fiat-accounts',
    counts: { records: 1, added: 1, changed: 0, unchanged: 0, rejected: 0, withdrawn: 0 },
  })
  const listed = await runBursar(place.commandUrl, ['imports', '--json'])
  assert.deepEqual([JSON.parse(listed.out).imports[0].id, ids.length], [ids[0], 1])
})

test('keys rotate and keys rotate --revoke are told apart, and so are the keys that they made', async () => {
  const place = await newPlace()
  const made: string[] = []
  for (const options of [[], ['--revoke']]) {
    const ran = await runBursar(place.commandUrl, ['keys', 'rotate', ...options, '--json'])
    made.push(JSON.parse(ran.out).key_id)
  }
  const ended = commandsOf(await auditOf(place)).filter(({ outcome }) => outcome === 'done')
  assert.deepEqual(
    ended.map(({ command, ids }) => [command?.name, Object.keys(command?.options ?? {}), ids]),
    [
      ['keys rotate', ['--json'], [made[0]]],
      ['keys rotate', ['--json', '--revoke'], [made[1]]],
    ],
  )
})

test('client commands name the client that they made or changed', async () => {
  const place = await newPlace()
  const run = (...words: string[]) => runBursar(place.commandUrl, ['client', ...words])
  const created = await run('create', '--customer', 'acme', '--name', 'CANARY 1', '--json')
  const { client_id: id, client_secret: secret } = JSON.parse(created.out)
  await run('rotate', id, '--now')
  await run('disable', id)
  await run('disable', secret)
  const entries = commandsOf(await auditOf(place))
  assert.deepEqual(
    entries.map(({ command, ids, outcome }) => [command?.name, command?.arguments, ids, outcome]),
    [
      ['client create', [], undefined, 'begun'],
      ['client create', [], [id], 'done'],
      ['client rotate', [id], undefined, 'begun'],
      ['client rotate', [id], [id], 'done'],
      ['client disable', [id], undefined, 'begun'],
      ['client disable', [id], [id], 'done'],
      ['client disable', ['[withheld]'], undefined, 'begun'],
      ['client disable', ['[withheld]'], undefined, 'failed'],
    ],
  )
  const log = JSON.stringify(entries)
  for (const hidden of [secret, 'CANARY']) assert.equal(log.includes(hidden), false, hidden)
})

test('what shows records in full says which, before it shows them', async () => {
  const place = await newPlace()
  await importOf(place)
  const id = String(aFiatAccount().id)
  await runBursar(place.commandUrl, ['export', 'fiat-accounts', '--customer', 'acme'])
  await runBursar(place.commandUrl, ['history', 'show', 'fiat-accounts', id])
  const unknown = await runBursar(place.commandUrl, ['history', 'show', 'fiat-accounts', anId(9)])
  assert.equal(unknown.code, 1)
  const shown = (await auditOf(place)).filter(({ action }) =>
    ['export', 'view_in_full'].includes(action),
  )
  const common = { actor: own, outcome: 'done', kind: 'fiat-accounts', view: 'full' }
  assert.deepEqual(shown, [
    { ...common, action: 'export', customer: 'acme' },
    { ...common, action: 'view_in_full', customer: 'acme', ids: [id] },
  ])
})

test('an import that is refused changed nothing, and its entry says so', async () => {
  const place = await newPlace()
  await runBursar(place.commandUrl, ['import', 'fiat-accounts', '-'], '{"id":"no"}\n')
  const outcomes = commandsOf(await auditOf(place)).map(({ outcome }) => outcome)
  assert.deepEqual(outcomes, ['begun', 'refused'])
})

test('a command whose entry cannot be written does nothing', async () => {
  const place = await newPlace()
  await importOf(place)
  if (testStore === 'postgres') {
    const env = { BURSAR_MASTER_KEY: '' }
    const ran = await runBursar(place.commandUrl, ['client', 'list'], '', env)
    assert.deepEqual([ran.code, ran.out], [2, ''])
    assert.match(ran.err, /^The audit log has every operator’s command, and BURSAR_MASTER_KEY/)
    return
  }
  const path = place.commandUrl.replace(/^sqlite:(.*)\.db$/, '$1.credentials.db')
  const db = new DatabaseSync(path)
  db.exec(
    `create trigger refuse before insert on audit_line begin select raise(abort, 'full'); end`,
  )
  const ran = await runBursar(place.commandUrl, ['keys', 'rotate'])
  assert.deepEqual([ran.code, ran.out], [1, ''])
  const { keys } = db.prepare('select count(*) as keys from purpose_key').get() ?? {}
  db.close()
  assert.equal(keys, purposes.length)
})

test('audit shows lines that match, in the order of their times', async () => {
  const place = await newPlace()
  await importOf(place)
  await runBursar(place.commandUrl, ['keys', 'rotate'])
  await runBursar(place.commandUrl, ['export', 'fiat-accounts', '--customer', 'acme'])
  const shown = async (...options: string[]) => {
    const ran = await runBursar(auditorOf(place), ['audit', ...options])
    assert.equal(ran.code, 0, ran.err)
    return ran.out.split('\n').slice(0, -1)
  }
  const all = await shown()
  assert.equal(all.length, 11)
  assert.match(all[2] ?? '', /^\S+Z {2}\S+.* {2}command {2}begun {2}import fiat-accounts -$/)
  assert.deepEqual(await shown('--limit', '2'), all.slice(-2))
  assert.equal((await shown('--action', 'export')).length, 1)
  assert.equal((await shown('--customer', 'acme')).length, 3)
  assert.equal((await shown('--actor', own.name)).length, 7)
  assert.deepEqual(await shown('--actor', 'nobody'), [])
  assert.deepEqual(await shown('--since', '2100-01-01T00:00:00Z'), [])
  assert.deepEqual(await shown('--until', '2000-01-01T00:00:00Z'), [])
  const wrong = await runBursar(auditorOf(place), ['audit', '--since', 'yesterday'])
  assert.deepEqual(
    [wrong.code, wrong.err],
    [2, '--since must be a time, such as 2026-11-22T12:00:00Z.\n'],
  )
})

test('audit --json has every member of an entry, and the place of its line', async () => {
  const place = await newPlace()
  await importOf(place)
  const ran = await runBursar(auditorOf(place), ['audit', '--json', '--action', 'command'])
  const shown = ran.out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  assert.equal(shown.length, 2)
  const { id, time, chain, key_id, digest, ids, counts, rows: _rows, ...entry } = shown[1]
  assert.deepEqual(entry, {
    action: 'command',
    actor: own,
    outcome: 'done',
    command: { name: 'import', arguments: ['fiat-accounts', '-'], options: {} },
    kind: 'fiat-accounts',
    sequence: 4,
  })
  assert.ok(Math.abs(Date.parse(time) - systemMs()) < hourMs)
  assert.equal(id, `${chain}:4`)
  assert.ok(ids.length > 0 && counts.added > 0)
  assert.match(`${key_id} ${digest}`, /^key_\S+ [0-9a-f]{64}$/)
})

test('audit verify finds a line that was changed, and with heads an end that was cut', async () => {
  const place = await newPlace()
  const heads = join(folder, `heads-${places.length}.ndjson`)
  const env = { BURSAR_AUDIT_HEADS_FILE: heads }
  const imported = ['import', 'fiat-accounts', '-']
  await runBursar(place.commandUrl, imported, JSON.stringify(aFiatAccount()), env)
  assert.equal(statSync(heads).mode & 0o777, 0o600)
  const verify = (...options: string[]) =>
    runBursar(auditorOf(place), ['audit', 'verify', ...options])
  assert.deepEqual(await verify(), {
    code: 0,
    out: '4 lines of 1 chain checked; without --heads, an end that was cut off shows no trace\n',
    err: '',
  })
  const whole = await verify('--heads', heads)
  assert.deepEqual(
    [whole.code, whole.out],
    [0, '4 lines of 1 chain checked; compared with 1 head\n'],
  )
  const { chain } = JSON.parse(readFileSync(heads, 'utf8'))
  await change(place, `delete from TABLE where sequence = 4`)
  assert.equal((await verify()).code, 0)
  const cut = await verify('--heads', heads)
  assert.equal(cut.code, 1)
  assert.match(cut.out, new RegExp(`^cut  chain ${chain}, line 4: the chain had this line`))
  await change(place, `update TABLE set body = '{}' where sequence = 3`)
  const changed = await verify('--json')
  assert.equal(changed.code, 1)
  const { findings, faults } = JSON.parse(changed.out)
  assert.deepEqual(
    [findings, faults[0].fault, faults[0].chain, faults[0].sequence],
    [1, 'changed', chain, 3],
  )
  assert.match(changed.err, /^1 finding: the audit log is not as it was written; keep a copy/)
})

test('a command prints the head of its chain only if it is asked to', async () => {
  const place = await newPlace()
  const run = (...words: string[]) =>
    runProgram(words, {
      env: { ...place.env, DATABASE_URL: place.commandUrl },
      stdin: `${JSON.stringify(aFiatAccount())}\n`,
    })
  const importing = ['import', 'fiat-accounts', '-']
  assert.doesNotMatch((await run(...importing)).errors, /audit head/)
  for (const words of [
    [...importing, '--audit-head'],
    ['imports', '--audit-head', 'cancel', anId(1)],
  ]) {
    assert.match(
      (await run(...words)).errors,
      /"sequence":\d,"digest":"[0-9a-f]{64}","msg":"audit head"/,
    )
  }
})

/** Puts a copy of a line with other values into the log, past the checks of its table. */
const strangeLine = (values: Readonly<Record<string, string>>): string => {
  const columns = ['chain', 'sequence', 'at', 'key_id', 'body', 'digest']
  const copied = columns.map((column) => values[column] ?? column)
  return `insert into TABLE (${columns.join(', ')}) select ${copied.join(', ')} from kept where sequence = 3`
}

const nothing = 'cast(null as text)'
const sameLength = `replace(digest, '0', 'ü')`
const strangeLines: readonly Readonly<Record<string, string>>[] = [
  { chain: `''` },
  { chain: `''`, sequence: '0' },
  { chain: `''`, sequence: '-1' },
  ...['0', '-1', '-9223372036854775808', '9223372036854775807'].map((sequence) => ({ sequence })),
  ...['-9223372036854775808', '9223372036854775807'].map((at) => ({ at, sequence: '5' })),
  ...['chain', 'key_id', 'digest', 'body'].flatMap((column) =>
    [`''`, `'é '`, `'﻿' || ${column}`, sameLength].map((value) => ({
      sequence: '5',
      [column]: value,
    })),
  ),
  ...[
    '[]',
    '{"action":"put","actor":{"type":"client"},"outcome":"done"}',
    '{"action":"put","actor":{"type":"program"},"outcome":"done","ids":7}',
    '{"action":"put","actor":{"type":"program"},"outcome":"done","customers":7}',
    '{"action":"put","actor":{"type":"program"},"outcome":"done","steps":[null]}',
    '{"action":"put","actor":{"type":"program"},"outcome":"done","command":{}}',
    '{"action":"put","actor":{"type":"program"},"outcome":"done","kind":{"toString":1}}',
  ].map((body) => ({ sequence: '5', body: `'${body}'` })),
  ...(testStore === 'sqlite'
    ? ['chain', 'key_id', 'digest', 'body'].flatMap((column) =>
        [`x'ff'`, `x'6100ff'`, `x'eda080'`].map((bytes) => ({
          sequence: '5',
          [column]: `cast(${bytes} as text)`,
        })),
      )
    : []),
]

/** Takes the checks of the table away, as somebody with all rights can. */
const withoutChecks =
  testStore === 'sqlite'
    ? `create table kept as select * from audit_line; drop table audit_line;
       create table audit_line (chain, sequence, at, key_id, body, digest)`
    : `create table kept as select * from TABLE;
       alter table TABLE drop constraint line_pkey, drop constraint line_sequence_check;
       ${['chain', 'sequence', 'at', 'key_id', 'body', 'digest']
         .map((column) => `alter table TABLE alter ${column} drop not null`)
         .join('; ')}`

test('every line that audit shows is verified, whatever its columns hold', async () => {
  const place = await newPlace()
  await importOf(place)
  await change(place, withoutChecks)
  const run = (...words: string[]) => runBursar(auditorOf(place), ['audit', ...words])
  const examine = async (values: Readonly<Record<string, string>>) => {
    await change(
      place,
      `delete from TABLE; insert into TABLE select * from kept; ${strangeLine(values)}`,
    )
    const what = JSON.stringify(values)
    const shown = await run()
    assert.deepEqual([shown.code, shown.err], [0, ''], what)
    const events = await run('--json')
    assert.deepEqual([events.code, events.err], [0, ''], what)
    const verified = await run('verify', '--json')
    assert.match(verified.err, /^\d+ findings?: the audit log is not as it was written/, what)
    assert.equal(verified.code, 1, what)
    const pruned = await run('prune')
    assert.doesNotMatch(pruned.err, /\n {4}at /, what)
    return { shown: events.out.split('\n').length - 1, ...JSON.parse(verified.out) }
  }
  for (const values of strangeLines) {
    const { shown, lines } = await examine(values)
    assert.deepEqual([shown, lines], [5, 5], JSON.stringify(values))
  }
  for (const column of ['chain', 'sequence', 'at', 'key_id', 'body', 'digest']) {
    const isNumber = column === 'sequence' || column === 'at'
    const other = testStore === 'sqlite' ? ['7.5', `x'00'`, isNumber ? `'a'` : '7'] : []
    for (const value of [isNumber ? 'cast(null as bigint)' : nothing, ...other]) {
      const { shown, lines, faults } = await examine({ sequence: '5', [column]: value })
      assert.deepEqual([shown, lines], [4, 4], `${column} = ${value}`)
      assert.match(faults.at(-1).detail, /^1 row of the table cannot be lines/)
    }
  }
})

test('pages of strange lines end', async () => {
  const place = await newPlace()
  await importOf(place)
  await change(place, withoutChecks)
  const many = limitNamed('auditPageLines') * 2 + 1
  const chain = testStore === 'sqlite' ? `cast(x'ff' as text)` : `''`
  const numbers = `with recursive number (n) as (select 1 union all select n + 1 from number where n < ${many})`
  await change(
    place,
    `delete from TABLE; insert into TABLE ${numbers}
      select ${chain}, -n, at, key_id, body, digest from kept, number where sequence = 3`,
  )
  const shown = await runBursar(auditorOf(place), ['audit', '--json'])
  assert.equal(shown.out.split('\n').length - 1, many)
  const { code, out } = await runBursar(auditorOf(place), ['audit', 'verify', '--json'])
  assert.deepEqual([code, JSON.parse(out).lines, JSON.parse(out).findings], [1, many, many])
  const pruned = await runBursar(auditorOf(place), ['audit', 'prune'])
  assert.doesNotMatch(pruned.err, /\n {4}at /)
})

test('audit verify takes heads from a log with other lines, and refuses a file without any', async () => {
  const place = await newPlace()
  const { errors } = await runProgram(['import', 'fiat-accounts', '-', '--audit-head'], {
    env: { ...place.env, DATABASE_URL: place.commandUrl },
    stdin: `${JSON.stringify(aFiatAccount())}\n`,
  })
  const log = join(folder, `log-${places.length}.ndjson`)
  writeFileSync(log, 'not JSON\n{"msg":"request","digest":7}\n')
  const verify = () => runBursar(auditorOf(place), ['audit', 'verify', '--heads', log])
  const none = await verify()
  assert.deepEqual([none.code, none.err], [1, `${log} has no head of an audit chain\n`])
  appendFileSync(log, errors)
  const { out } = await verify()
  assert.equal(out, '4 lines of 1 chain checked; compared with 1 head\n')
  // A shell of Windows writes a mark before the first line, or UTF-16.
  const [head = ''] = readFileSync(log, 'utf8').match(/^.*"digest":".*$/m) ?? []
  writeFileSync(log, `\ufeff${head}\n`)
  assert.equal((await verify()).out, out)
  writeFileSync(log, Buffer.from(`\ufeff${head}\n`, 'utf16le'))
  assert.equal((await verify()).err, `${log} is UTF-16; save it as UTF-8\n`)
})

test('audit prune deletes what is past its retention, and the log still verifies', async () => {
  const place = await newPlace()
  await importOf(place)
  const run = (words: readonly string[]) => runBursar(auditorOf(place), words)
  const pruned = await run(['audit', 'prune', '--json'])
  assert.equal(JSON.parse(pruned.out).deleted, 0, pruned.err)
  const [begun, done] = commandsOf(await auditOf(place)).slice(-2)
  assert.deepEqual(
    [begun?.command?.name, begun?.outcome, done?.outcome, done?.rows],
    ['audit prune', 'begun', 'done', 0],
  )
  assert.equal((await run(['audit', 'verify'])).code, 0)
})

test('audit prune deletes lines once they are as old as the retention', async () => {
  const place = await newPlace()
  await importOf(place)
  const run = (...words: string[]) => runBursar(auditorOf(place), ['audit', ...words, '--json'])
  const { out } = await run()
  const times = out
    .trim()
    .split('\n')
    .map((line) => parseInstant(JSON.parse(line).time)?.micros ?? assert.fail())
    .toSorted()
  using time = takeTime()
  const deletedAt = async (micros: bigint) => {
    const { auditRetentionDays } = loadConfig({ env: {}, file: null })
    const now = micros + BigInt(auditRetentionDays) * DAY_MICROS
    time.jump(now - time.now())
    const pruned = await run('prune')
    return JSON.parse(pruned.out).deleted
  }
  assert.equal(await deletedAt(times.at(0) ?? 0n), 0)
  assert.equal(await deletedAt((times.at(-1) ?? 0n) + 1000n), times.length)
})

test('audit --follow looks for lines again and again, also for those that are stored late', async () => {
  using time = takeTime()
  const stored: AuditLine[] = []
  const store = (agoMs: number) =>
    stored.push({
      chain: 'one',
      sequence: BigInt(stored.length + 1),
      keyId: '',
      digest: '',
      at: time.now() - BigInt(agoMs) * 1000n,
      body: '{}',
    })
  const reader = {
    lines: async ({ since = 0n }: { since?: bigint | undefined }) =>
      stored.filter(({ at }) => at >= since),
  } as unknown as AuditReader
  store(0)
  const none = { since: undefined, until: undefined }
  const all = { ...none, actor: undefined, action: undefined, customer: undefined }
  const following = await openFollowing(reader, all)
  const ending = new AbortController()
  const seen: bigint[] = []
  const follow = async () => {
    for await (const { line } of following.lines(ending.signal)) seen.push(line.sequence)
  }
  const followed = follow()
  await time.advance(0)
  store(0)
  store(limitNamed('auditLateMs') - limitNamed('auditFollowMs'))
  await time.advance(limitNamed('auditFollowMs') - 1)
  assert.deepEqual(seen, [])
  await time.advance(1)
  assert.deepEqual(seen, [2n, 3n])
  await time.advance(limitNamed('auditLateMs') + limitNamed('auditFollowMs'))
  assert.deepEqual(seen, [2n, 3n])
  store(0)
  ending.abort()
  await followed
  assert.deepEqual([seen, time.waiting()], [[2n, 3n], 0])
})
