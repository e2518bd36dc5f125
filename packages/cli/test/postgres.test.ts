import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { after, before, describe, test } from 'node:test'
import { openPlace, startServiceAt } from '../../../test/support/harness.ts'
import { runProgram, startProgram } from '../../../test/support/program.ts'
import { anId } from '../../../test/support/records.ts'
import { runBursar } from '../../../test/support/run-bursar.ts'
import { openTestDatabase, type TestDatabase } from '../../../test/support/test-database.ts'

/** Sets PostgreSQL up with the program, as an operator does. */

let database: TestDatabase
const masterKey = randomBytes(32).toString('base64')

before(async () => {
  database = await openTestDatabase()
})
after(() => database.drop())

const run = (
  words: readonly string[],
  { DATABASE_URL = '', ...env }: Readonly<Record<string, string>>,
) => runBursar(DATABASE_URL, words, '', { BURSAR_MASTER_KEY: masterKey, PORT: '0', ...env })

const as = (role: string) => database.url.replace('//bursar@', `//${role}@`)

/** The message of docs/troubleshooting.md that has this part, for any server and name. */
function documented(part: string): RegExp {
  const text = readFileSync('docs/troubleshooting.md', 'utf8')
  const messages = [...text.matchAll(/^(db1:5432 .*)$|`(db1:5432 [^`]*)`/gm)]
  const shown = messages.map(([, line, inline]) => line ?? inline ?? '')
  const message = shown.find((each) => each.includes(part)) ?? assert.fail(part)
  const parts = message.split(/db1:5432|bursar/).map((each) => RegExp.escape(each))
  return new RegExp(`^${parts.join('\\S+')}\n$`)
}

describe('migrate', () => {
  test('creates the schema once, however often it runs', async () => {
    await database.ask('drop schema bursar, bursar_audit cascade')
    const runs = await Promise.all(
      [1, 2, 3].map(() => run(['migrate', '--json'], { DATABASE_URL: database.ownerUrl })),
    )
    const applied = runs.map(({ code, out, err }) => {
      assert.equal(code, 0, err)
      return JSON.parse(out).applied
    })
    // Each step is of one run. The runs may take turns.
    assert.deepEqual(applied.flat().toSorted(), ['credentials', 'records'])
  })

  test('checks the schema with the URL of the owner', async () => {
    const words = ['migrate', '--check', '--database', database.ownerUrl]
    const whole = await run(words, {})
    assert.deepEqual(whole, {
      code: 0,
      out: 'up to date; there was nothing to apply; no integrity faults in 0 records\n',
      err: '',
    })
    await database.ask('alter table bursar.statement no force row level security')
    const damaged = await run(words, {})
    await database.ask('alter table bursar.statement force row level security')
    assert.equal(damaged.code, 2)
    assert.match(damaged.err, /the row-level security of bursar.statement is not as .*migrate/)
    await database.ask(`insert into bursar.fiat_account_full
      (checksum, version_mark, customer, deleted, id, body) values (0, 0, 1, false, '${anId(1)}', '{"id"')`)
    const unpaired = await run(words, {})
    await database.ask('delete from bursar.fiat_account_full')
    assert.equal(unpaired.code, 1)
    assert.match(unpaired.err, new RegExp(`fiat-accounts ${anId(1)}: the masked record is missing`))
  })

  test('names a missing role', async () => {
    const words = ['migrate', '--app-role', 'nobody_yet']
    const { code, err } = await run(words, { DATABASE_URL: database.ownerUrl })
    assert.equal(code, 2)
    assert.match(err, /no role nobody_yet. Make it \(create role nobody_yet login/)
  })

  test('does not block readers when it runs again', async () => {
    let isReading = true
    const reader = database
      .ask('select pg_sleep(2), (select count(*) from bursar.fiat_account)')
      .finally(() => {
        isReading = false
      })
    const { code, err } = await run(['migrate'], { DATABASE_URL: database.ownerUrl })
    assert.deepEqual([code, isReading], [0, true], err)
    await reader
  })
})

describe('serve', () => {
  const refusals: readonly (readonly [
    what: string,
    env: () => Record<string, string>,
    told: RegExp,
  ])[] = [
    [
      'the owner’s login',
      () => ({ DATABASE_URL: database.ownerUrl }),
      /it is the owner of the tables/,
    ],
    ['a superuser’s login', () => ({ DATABASE_URL: as('postgres') }), /it is a superuser/],
    [
      'a superuser’s login for standbys',
      () => ({ DATABASE_URL: database.url, DATABASE_READ_URLS: as('postgres') }),
      /^127.0.0.1:\d+: DATABASE_READ_URLS must not name the role postgres: it is a superuser/,
    ],
    [
      'a superuser’s login for ingest',
      () => ({ DATABASE_URL: database.url, OPERATOR_DATABASE_URL: as('postgres') }),
      /^The role postgres is not the operator’s: it is a superuser/,
    ],
    ['the operator’s login', () => ({ DATABASE_URL: database.operatorUrl }), /the operator’s role/],
    [
      'a login for ingest that is not the operator’s',
      () => ({ DATABASE_URL: database.url, OPERATOR_DATABASE_URL: database.url }),
      /is not the operator’s/,
    ],
    [
      'both logins, and names that of customers first',
      () => ({ DATABASE_URL: database.operatorUrl, OPERATOR_DATABASE_URL: database.url }),
      /^DATABASE_URL must not name the role bursar_operator[^\n]*\n$/,
    ],
    [
      'to be without a master key, for there is no place to keep one',
      () => ({ DATABASE_URL: database.url, BURSAR_MASTER_KEY: '' }),
      /BURSAR_MASTER_KEY is not set/,
    ],
    ['an unknown login', () => ({ DATABASE_URL: as('stranger') }), documented('28000')],
    [
      'an unknown database',
      () => ({ DATABASE_URL: `${database.url}_not` }),
      documented('has no database'),
    ],
  ]
  for (const [what, env, told] of refusals) {
    test(`refuses ${what}, in one sentence`, async () => {
      const { code, err } = await run(['serve'], env())
      assert.deepEqual([code, err.trim().split('\n').length], [2, 1], err)
      assert.match(err, told)
    })
  }

  test('refuses a schema that is too old or too new, and names the command to run', async () => {
    const env = { DATABASE_URL: database.url }
    const steps = 'bursar.schema_migration'
    await database.ask(`insert into ${steps} values ('payouts', 1, '')`)
    const tooNew = await run(['serve'], env)
    await database.ask(`delete from ${steps} where name = 'payouts'`)
    const [row] = await database.ask(
      `delete from ${steps} where name = 'credentials' returning name, applied_at, fingerprint`,
    )
    const tooOld = await run(['serve'], env)
    await database.ask(`insert into ${steps} values (${row?.map((value) => `'${value}'`)})`)
    assert.deepEqual([tooNew.code, tooOld.code], [2, 2])
    assert.match(tooNew.err, /has the step payouts.*Run the version that wrote it, or a later one/)
    assert.match(
      tooOld.err,
      /lacks steps .*\(credentials\). Run `npm run -s bursar -- migrate` with the URL of the database's owner/,
    )
  })

  test('refuses the public secrets of a sandbox, until they are disabled', async (t) => {
    const place = await openPlace('postgres')
    const sandbox = await startServiceAt(place, { store: 'postgres' })
    t.after(sandbox.stop)
    const env = { ...place.env, OPERATOR_DATABASE_URL: '' }
    const refused = await run(['serve'], env)
    assert.equal(refused.code, 2)
    assert.equal(
      refused.err,
      'The store has 3 clients of a sandbox, whose secrets are public: acme_sandbox, borealis_sandbox, console_sandbox. Disable them with `npm run -s bursar -- client disable --sandbox`, with OPERATOR_DATABASE_URL set, or serve another store.\n',
    )
    const disabled = await run(['client', 'disable', '--sandbox'], place.env)
    assert.equal(disabled.out.split(' is disabled.').length, 4, disabled.err)
    // Beside the sandbox, which has another URL.
    const named = { ...env, PORT: '0', BURSAR_PUBLIC_URL: 'https://bursar.example' }
    const program = startProgram(['serve', '--json'], { env: named })
    const { url } = JSON.parse(await program.firstLine)
    assert.equal(url, 'https://bursar.example')
    assert.equal(await program.kill(), 0)
  })

  test('exits with one sentence if no server answers', async () => {
    const url = database.url.replace(/:\d+\//, ':1/')
    const { code, err } = await run(['serve'], { DATABASE_URL: url })
    assert.equal(code, 1)
    assert.match(err, /^no primary: 127.0.0.1:1: ECONNREFUSED/)
  })

  test('offers ingest only if the operator’s URL is set', async () => {
    for (const [operator, status] of [
      [{}, 404],
      [{ OPERATOR_DATABASE_URL: database.operatorUrl }, 401],
    ] as const) {
      const env = {
        DATABASE_URL: database.url,
        BURSAR_MASTER_KEY: masterKey,
        PORT: '0',
        ...operator,
      }
      const program = startProgram(['serve', '--json'], { env })
      const { url } = JSON.parse(await program.firstLine)
      const path = '/ingest/v1/fees/11111111-1111-4111-8111-111111111111/consume'
      const answer = await fetch(`${url}${path}`, { method: 'POST', body: '{}' })
      assert.equal(answer.status, status)
      assert.equal(await program.kill(), 0)
    }
  })
})

test('a command with the customers’ login names the role that it needs', async () => {
  for (const words of [
    ['export', 'statements'],
    ['client', 'list'],
    ['keys', 'list'],
  ]) {
    const { code, err } = await run(words, { DATABASE_URL: database.url })
    assert.equal(code, 2, words.join(' '))
    assert.match(err, /Set OPERATOR_DATABASE_URL/)
  }
})

test('compact refuses a role that PostgreSQL would let skip a part', async (t) => {
  const own = await openTestDatabase()
  t.after(own.drop)
  await run(['keys', 'list'], { DATABASE_URL: own.operatorUrl })
  const name = new URL(own.ownerUrl).pathname.slice(1)
  await own.ask(`alter database ${name} owner to postgres`)
  const compact = () => run(['compact'], { DATABASE_URL: own.ownerUrl })
  const { code, out, err } = await compact()
  assert.deepEqual([code, out], [2, ''])
  // Its histograms hold values of the rows.
  const told = /^The role owner may not compact pg_catalog.pg_statistic; .* run `(.*)` as an admin/
  const [, advice = ''] = told.exec(err) ?? assert.fail(err)
  assert.equal(advice, `alter database ${name} owner to owner`)
  await own.ask(advice)
  assert.match((await compact()).out, /^compacted: /)
})

test('no message quotes the password of a URL', async () => {
  const secret = 'canary-password'
  const url = database.url.replace('//bursar@', `//stranger:${secret}@`)
  for (const given of [url, url.replace('postgres:', 'postgras:'), `${url}?nonsense=1`]) {
    const { errors, output } = await runProgram(['serve'], {
      env: { BURSAR_MASTER_KEY: masterKey, PORT: '0', DATABASE_URL: given },
    })
    assert.ok(!`${errors}${output}`.includes(secret), errors)
  }
})
