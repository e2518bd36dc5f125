import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { loadConfig, systemTime } from '@bursar/base'
import { pino } from 'pino'
import { openPlace, type StoreLocation, startServiceAt } from '../../../test/support/harness.ts'
import { operatorToken } from '../../../test/support/operator-token.ts'
import { runBursar } from '../../../test/support/run-bursar.ts'
import { addressesOf, execute } from '../../../test/support/test-database.ts'
import { until } from '../../../test/support/until.ts'
import { askAt, connectTo, onPostgres } from '../../records/test/support/postgres-world.ts'
import { withPrimary } from '../src/cluster/with-primary.ts'
import { textArray } from '../src/driver/connection.ts'
import { requiredSettings } from '../src/driver/required-settings.ts'
import { postgresChecks } from '../src/inspect/postgres-checks.ts'
import { requireSession, settingFindings } from '../src/schema/session-settings.ts'

/** What a role, a database or a host may have made the default, in place of PostgreSQL's own. */
const hostile: Readonly<Record<string, string>> = {
  client_encoding: 'latin1',
  bytea_output: 'escape',
  DateStyle: `'SQL, DMY'`,
  TimeZone: `'Asia/Kathmandu'`,
  standard_conforming_strings: 'off',
  array_nulls: 'off',
  default_transaction_isolation: 'serializable',
  default_transaction_read_only: 'on',
  row_security: 'off',
  search_path: 'bursar, public, pg_catalog',
  client_min_messages: 'error',
  enable_memoize: 'on',
  quote_all_identifiers: 'on',
  log_parameter_max_length_on_error: '-1',
  session_replication_role: 'replica',
  zero_damaged_pages: 'on',
  ignore_checksum_failure: 'on',
}

/** What only a superuser may set, so that no session of the program can set it itself. */
const fixed = ['session_replication_role', 'zero_damaged_pages', 'ignore_checksum_failure']

const namesOf = (findings: readonly { readonly what: string }[]) =>
  findings.flatMap(({ what }) => [...what.matchAll(/(\w+) = /g)].map(([, name]) => name))

onPostgres('the settings of a session', () => {
  let place: StoreLocation
  before(async () => {
    place = await openPlace('postgres', true)
  })
  after(() => place.remove())

  const roles = ['bursar', 'bursar_operator', 'owner']
  const urlOf = (role: string) => String(place.superuserUrl).replace('//postgres@', `//${role}@`)
  const asSuperuser = (sql: string) => execute(String(place.superuserUrl), sql)
  const database = () => new URL(String(place.superuserUrl)).pathname.slice(1)

  /** Sets defaults at each place that has some. The last ones win over the others. */
  const places = {
    database: () => [`database ${database()}`],
    'role in a database': () => roles.map((role) => `role ${role} in database ${database()}`),
  }

  const inherit = async (where: readonly string[], names: readonly string[]) => {
    for (const each of where) {
      const set = names.map((name) => `alter ${each} set ${name} = ${hostile[name]}`)
      await asSuperuser(set.join('; '))
    }
    return {
      [Symbol.asyncDispose]: () =>
        asSuperuser(where.map((each) => `alter ${each} reset all`).join('; ')),
    }
  }

  test('are all tried here', () => {
    // The encoding is that of the database.
    const { server_encoding: _, ...settable } = requiredSettings
    assert.deepEqual(Object.keys(hostile).toSorted(), Object.keys(settable).toSorted())
  })

  for (const [where, names] of Object.entries(places)) {
    test(`do not come from the ${where}, and what no session may set is found`, async () => {
      await using _inherited = await inherit(names(), Object.keys(hostile))
      for (const role of roles) {
        const session = connectTo(urlOf(role))
        const findings = await settingFindings(session, requiredSettings)
        await session.close()
        assert.deepEqual(namesOf(findings).toSorted(), fixed.toSorted(), role)
        // A command's session starts in the same way.
        await withPrimary(addressesOf(urlOf(role)), async (connection) => {
          assert.deepEqual(await settingFindings(connection, requiredSettings), findings)
        })
      }
    })
  }

  test('have no deadline of a role or a host where a command or an import runs for long', async () => {
    const url = urlOf('owner')
    const sets = (setting: string) =>
      askAt(
        url,
        `select name from pg_settings where setting ${setting} and name in ('lock_timeout',
        'statement_timeout', 'transaction_timeout', 'idle_in_transaction_session_timeout')`,
      )
    const names = (await sets('is not null')).flat().map(String)
    const here = `alter role owner in database ${database()}`
    await asSuperuser(names.map((name) => `${here} set ${name} = '1h'`).join('; '))
    try {
      assert.deepEqual((await sets(`<> '0'`)).flat(), names)
      const left = `select name from pg_settings where name = any($1) and setting <> '0'`
      await withPrimary(addressesOf(url), async (connection) => {
        const rows = await connection.rows({ text: left, values: [textArray(names)] })
        assert.equal(rows.length, 0)
      })
      // The other deadlines are those with which the sessions of a server start.
      const session = connectTo(url)
      await requireSession(session)
      const values = [textArray(['transaction_timeout'])]
      assert.equal((await session.rows({ text: left, values })).length, 0)
      await session.close()
    } finally {
      await asSuperuser(`${here} reset all`)
    }
  })

  test('let every page, search and write succeed, whatever the defaults are', async () => {
    const pinned = Object.keys(hostile).filter((name) => !fixed.includes(name))
    await using _inherited = await inherit(places['role in a database'](), pinned)
    const service = await startServiceAt(
      { ...place, remove: async () => {} },
      { store: 'postgres' },
    )
    try {
      const lists = [
        'transfer/fiat-accounts',
        'transfer/fiat-deposit-instructions',
        'transfer/deposit-addresses',
        'issuer-quotes',
        'events',
      ]
      for (const list of lists) {
        const first = await service.call(`/v2/${list}?limit=1`)
        const cursor = first.body.next_page_cursor ?? first.body.resume_cursor
        const second = await service.call(`/v2/${list}?limit=1&page_cursor=${cursor}`)
        assert.deepEqual([first.status, second.status], [200, 200], `${list}: ${second.text}`)
      }
      const token = await operatorToken(service, 'searching', ['ingest:search'])
      const found = await service.call('/ingest/v1/search?q=8846', { token })
      assert.equal(found.status, 200, found.text)
      const fee = await service.call('/v2/transfer/fees/crypto-withdrawal', {
        method: 'POST',
        body: JSON.stringify({
          asset: 'USDC',
          crypto_network: 'ETHEREUM',
          destination_address: '0xF0Aa84466e353E5390be37FE2934301c07c19a55',
          amount: '100',
        }),
      })
      assert.equal(fee.status, 200, fee.text)
    } finally {
      await service.stop()
    }
    const checked = await runBursar(urlOf('owner'), ['migrate', '--check'])
    assert.equal(checked.code, 0, checked.err)
  })

  const refusal =
    /sessions of role bursar have session_replication_role = replica \(source: database user\), not origin: triggers [^.]*\. As an administrator, take it back/

  test('that no session may set refuse a start, and doctor finds them', async () => {
    const where = [`role bursar in database ${database()}`]
    await using _inherited = await inherit(where, ['session_replication_role'])
    const { code, err } = await runBursar(place.env.DATABASE_URL ?? '', ['serve'], '', place.env)
    assert.deepEqual([code, err.trim().split('\n').length], [2, 1], err)
    assert.match(err, refusal)
    const config = loadConfig({ env: place.env, file: null })
    const checks = postgresChecks({ config, clock: systemTime.now })
    const found = await Promise.all(
      checks.map(async ({ name, find }) => (await find()).map(({ what }) => `${name}: ${what}`)),
    )
    // The tests' server is fast and unsafe.
    const own = found.flat().filter((finding) => !finding.startsWith('durability: '))
    assert.equal(own.length, 1, own.join('\n'))
    assert.match(own.join(), /^sessions: the sessions of role bursar have session_replication_role/)
  })

  test('that change while a server runs take it out of service, and the log says why', async () => {
    const lines: string[] = []
    const log = pino({ level: 'warn' }, { write: (line: string) => void lines.push(line) })
    const service = await startServiceAt(
      { ...place, remove: async () => {} },
      { store: 'postgres', log, env: { BURSAR_OPERATOR_PORT: '0' } },
    )
    try {
      const ready = async () => await fetch(`${service.operatorUrl}/readyz`)
      assert.equal((await ready()).status, 200)
      {
        const where = [`role bursar in database ${database()}`]
        await using _inherited = await inherit(where, ['session_replication_role'])
        await asSuperuser(
          `select pg_terminate_backend(pid) from pg_stat_activity where usename = 'bursar' and datname = '${database()}'`,
        )
        await until(async () => (await ready()).status === 503)
        assert.match(await (await ready()).text(), refusal)
        await until(() => lines.some((line) => refusal.test(JSON.parse(line).reason)))
      }
      await until(async () => (await ready()).status === 200)
    } finally {
      await service.stop()
    }
  })

  test('and rights that are missing end a start with the words of the database', async () => {
    await asSuperuser('revoke select on bursar.client from bursar')
    const { code, err } = await runBursar(place.env.DATABASE_URL ?? '', ['serve'], '', place.env)
    await asSuperuser('grant select on bursar.client to bursar')
    assert.equal(code, 1)
    assert.equal(
      err,
      'the database refused: 42501: permission denied for table client; `npm run -s bursar -- migrate --yes` with the owner’s URL grants it to the roles that --app-role and --operator-role name\n',
    )
  })
})
