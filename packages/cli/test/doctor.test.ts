import assert from 'node:assert/strict'
import { once } from 'node:events'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, describe, type TestContext, test } from 'node:test'
import { limitNamed, loadConfig, openLog, systemTime } from '@bursar/base'
import { resources } from '@bursar/contract'
import type { OperatorRecords } from '@bursar/records'
import { openServiceStores } from '@bursar/server/stores'
import { openPlace, startServiceAt, temporaryFolder } from '../../../test/support/harness.ts'
import { aFiatAccount, anId, aStatement } from '../../../test/support/records.ts'
import { runBursar } from '../../../test/support/run-bursar.ts'
import { doctorFindings, healthyFees } from '../../../test/support/run-doctor.ts'
import { setLimits } from '../../../test/support/set-limits.ts'
import { settlesAfter } from '../../../test/support/settles-after.ts'
import { flipped } from '../../../test/support/test-sealing.ts'
import { systemMs, until } from '../../../test/support/until.ts'
import { takeTime } from '../../../test/support/virtual-time.ts'
import { installationChecks } from '../src/doctor/installation.ts'
import { recordsCheck } from '../src/doctor/records-check.ts'

const folder = temporaryFolder()
after(() => rmSync(folder, { recursive: true, force: true }))

let made = 0

/** A store with keys, and what `doctor` needs to find nothing. */
async function healthyStore() {
  made += 1
  const at = join(folder, `store-${made}`)
  mkdirSync(at, { mode: 0o700 })
  const url = `sqlite:${join(at, 'bursar.db')}`
  const feeSchedule = join(at, 'fees.json')
  writeFileSync(feeSchedule, JSON.stringify(healthyFees(systemMs())))
  const run = (words: readonly string[], env = {}) => runBursar(url, words, '', env)
  assert.equal((await run(['migrate'])).code, 0)
  assert.equal((await run(['keys', 'list'])).code, 0)
  assert.equal((await run(['backup', join(at, 'one.tar')])).code, 0)
  const environment = { BURSAR_FEE_SCHEDULE: feeSchedule, BURSAR_SPOOL_FOLDER: at }
  const doctor = (env: Readonly<Record<string, string>> = {}, words: readonly string[] = []) =>
    run(['doctor', ...words], { ...environment, ...env })
  const findings = (env: Readonly<Record<string, string>> = {}, words: readonly string[] = []) =>
    doctorFindings(() => doctor(env, ['--json', ...words]))
  return { at, url, file: join(at, 'bursar.db'), run, doctor, findings }
}

describe('doctor', () => {
  test('says that every check has passed, with exit code 0', async () => {
    const { doctor } = await healthyStore()
    const { code, out, err } = await doctor()
    assert.equal(code, 0, out + err)
    assert.match(out, /^\d+ checks passed\n$/)
  })

  test('says what is wrong, why it matters and what to do, with exit code 1', async () => {
    const { doctor, at } = await healthyStore()
    const { code, out, err } = await doctor({ BURSAR_FEE_SCHEDULE: '' })
    assert.equal(code, 1)
    assert.match(
      out,
      /^fee-schedule: no fee can be quoted for any of \d+ assets: the fee schedule has only sample values, which are not accepted\.\n {2}Why it matters: .+\.\n {2}What to do: .+\.\n$/,
    )
    assert.match(err, /^1 of \d+ checks failed\n$/)
    rmSync(join(at, 'bursar.backed-up'))
    assert.match((await doctor()).out, /^backup: no backup is known\.\n/)
  })

  test('changes nothing, also where there is no store', async () => {
    const empty = join(folder, 'empty')
    mkdirSync(empty)
    const { code, out } = await runBursar(`sqlite:${join(empty, 'bursar.db')}`, ['doctor'])
    assert.equal(code, 1)
    assert.match(out, /^store: there is no store at /m)
    assert.deepEqual(readdirSync(empty), [])
    const nowhere = await doctorFindings(() =>
      runBursar(`sqlite:${join(folder, 'no/folder/bursar.db')}`, ['doctor', '--json']),
    )
    assert.ok(
      nowhere.some(({ check, what }) => check === 'store' && /there is no store/.test(what)),
    )
    assert.ok(!existsSync(join(folder, 'no')))
  })

  test('leaves no file behind, and no mode at which a server refuses to start', async () => {
    const databases = ['bursar.db', 'bursar.credentials.db']
    for (const open of [[], databases.slice(0, 1), databases.slice(1), databases]) {
      const { at, run, findings } = await healthyStore()
      const listed = () =>
        readdirSync(at).map((name) => [name, statSync(join(at, name)).mode & 0o777])
      for (const mode of [0o644, 0o600]) {
        for (const name of open) chmodSync(join(at, name), mode)
        chmodSync(at, mode === 0o600 ? 0o700 : 0o775)
        const before = listed()
        const found = await findings()
        assert.deepEqual(listed(), before, open.join())
        assert.equal(found.length > 0, mode === 0o644, JSON.stringify(found))
      }
      assert.equal((await run(['client', 'list'])).code, 0)
    }
  })

  test('finds a file of audit heads that cannot be there', async () => {
    const { findings, at } = await healthyStore()
    const found = await findings({ BURSAR_AUDIT_HEADS_FILE: join(at, 'one.tar', 'heads') })
    assert.deepEqual(
      found.map(({ check }) => check),
      ['audit'],
    )
  })

  /** Each row causes one finding, in a store that has none. */
  const causes: readonly {
    readonly check: string
    readonly what: RegExp
    readonly env?: Readonly<Record<string, string>>
    readonly words?: readonly string[]
    readonly cause?: (store: Awaited<ReturnType<typeof healthyStore>>) => void | Promise<void>
  }[] = [
    { check: 'configuration', what: /^PORT must be/, env: { PORT: 'eighty' } },
    {
      check: 'public-url',
      what: /plain http/,
      env: { BURSAR_PUBLIC_URL: 'http://api.example.com' },
    },
    { check: 'public-url', what: /is not set/, env: { HOST: '0.0.0.0' } },
    {
      check: 'proxies',
      what: /names no proxy/,
      env: { BURSAR_PUBLIC_URL: 'https://api.example.com' },
    },
    {
      check: 'proxies',
      what: /trusts every address \(0\.0\.0\.0\/0\)/,
      env: { BURSAR_TRUSTED_PROXIES: '0.0.0.0/0' },
    },
    {
      check: 'configuration-file',
      what: /other users can read or write the configuration file/,
      words: ['--config', join(folder, 'open.json')],
      cause: () => {
        writeFileSync(join(folder, 'open.json'), '{}')
        chmodSync(join(folder, 'open.json'), 0o644)
      },
    },
    {
      check: 'fee-schedule',
      what: /the costs of the fee schedule are too old/,
      cause: ({ at }) => {
        const old = healthyFees(systemMs() - 400 * 86_400_000)
        writeFileSync(join(at, 'fees.json'), JSON.stringify(old))
      },
    },
    {
      check: 'fee-sources',
      what: /^no node of ETHEREUM has answered$/,
      cause: ({ at }) => {
        const rpc = [{ url: 'http://127.0.0.1:9' }]
        const unreachable = { ...healthyFees(systemMs()), networks: { ETHEREUM: { rpc } } }
        writeFileSync(join(at, 'fees.json'), JSON.stringify(unreachable))
      },
    },
    {
      check: 'backup',
      what: /^the newest backup is 27 hours old$/,
      cause: ({ at }) => {
        const then = new Date(systemMs() - 27.5 * 3_600_000)
        utimesSync(join(at, 'bursar.backed-up'), then, then)
      },
    },
    {
      check: 'backup',
      what: /^no backup is known$/,
      words: ['--backup', join(folder, 'nothing-here')],
    },
    {
      check: 'store',
      what: /bursar\.credentials\.db is missing/,
      cause: ({ at }) => rmSync(join(at, 'bursar.credentials.db')),
    },
    {
      check: 'schema',
      what: /lacks steps of the schema: credentials/,
      cause: ({ at }) => {
        using db = new DatabaseSync(join(at, 'bursar.credentials.db'))
        db.exec(`delete from schema_migration; insert into schema_migration
          select name, 0, fingerprint from (select 'x' as name, 'x' as fingerprint) where false`)
      },
    },
    {
      check: 'files',
      what: /^other users can write in /,
      cause: ({ at }) => chmodSync(at, 0o775),
    },
    {
      check: 'files',
      what: /^other users can read or write .*master-key$/,
      cause: ({ at }) => chmodSync(join(at, 'bursar.master-key'), 0o640),
    },
    {
      check: 'keys',
      what: /^The master key is missing/,
      cause: ({ at }) => rmSync(join(at, 'bursar.master-key')),
    },
    {
      check: 'keys',
      what: /no key of the store needs it/,
      env: { BURSAR_MASTER_KEY_PREVIOUS: Buffer.alloc(32, 7).toString('base64') },
    },
    {
      check: 'keys',
      what: /^tokens have been signed with one key for 500 days$/,
      cause: ({ at }) => {
        using db = new DatabaseSync(join(at, 'bursar.credentials.db'))
        const then = BigInt(systemMs() - 500 * 86_400_000) * 1000n
        db.prepare('update purpose_key set active_from = ?').run(then)
      },
    },
    {
      check: 'clients',
      what: /^the store has 1 client of a sandbox$/,
      cause: async ({ run, at }) => {
        const words = ['client', 'create', '--customer', 'one', '--name', 'One']
        assert.equal((await run(words)).code, 0)
        using db = new DatabaseSync(join(at, 'bursar.credentials.db'))
        db.exec(`update client_secret set id = 'sandbox_secret_' || id`)
      },
    },
    {
      check: 'audit',
      what: /^other users can read or write the file of audit heads /,
      env: { BURSAR_AUDIT_HEADS_FILE: join(folder, 'heads.ndjson') },
      cause: () => {
        writeFileSync(join(folder, 'heads.ndjson'), '')
        chmodSync(join(folder, 'heads.ndjson'), 0o644)
      },
    },
    {
      check: 'audit',
      what: /^the file of audit heads .* cannot be written$/,
      env: { BURSAR_AUDIT_HEADS_FILE: join(folder, 'nowhere', 'heads.ndjson') },
    },
    {
      check: 'audit',
      what: /^the oldest line of the audit log is 60 days old, and 30 are to be kept$/,
      env: { BURSAR_AUDIT_RETENTION_DAYS: '30' },
      cause: ({ at }) => {
        using db = new DatabaseSync(join(at, 'bursar.credentials.db'))
        const then = BigInt(systemMs() - 60.5 * 86_400_000) * 1000n
        db.prepare('update audit_line set at = ?').run(then)
      },
    },
    {
      check: 'clients',
      what: /^the client .* was not stored by this program, or was changed by another one, or an older state of it was put back$/,
      cause: async ({ run, at }) => {
        const words = ['client', 'create', '--customer', 'one', '--name', 'One']
        assert.equal((await run(words)).code, 0)
        using db = new DatabaseSync(join(at, 'bursar.credentials.db'))
        db.exec(`update client set scopes = scopes || ' statements:write'`)
      },
    },
    {
      check: 'records',
      what: /^1 difference between .*, such as: customer "acme" has 1 statements, where 7 are kept$/,
      cause: async ({ run, at, file }) => {
        const path = join(at, 'statements.ndjson')
        writeFileSync(path, `${JSON.stringify(aStatement())}\n`)
        assert.equal((await run(['import', 'statements', path])).code, 0)
        using db = new DatabaseSync(file)
        db.exec('update revision set live = 7')
      },
    },
    {
      check: 'recovery',
      what: /clients are not confirmed$/,
      cause: async ({ run, at, file }) => {
        for (const name of [file, join(at, 'bursar.credentials.db')]) {
          for (const ending of ['', '-wal', '-shm']) rmSync(name + ending, { force: true })
        }
        const restored = await run(['restore', join(at, 'one.tar')])
        assert.equal(restored.code, 0, restored.err)
      },
    },
  ]

  for (const { check, what, env = {}, words = [], cause } of causes) {
    test(`finds a fault of ${check}: ${what.source}`, async () => {
      const store = await healthyStore()
      await cause?.(store)
      const found = await store.findings(env, words)
      const own = found.filter((finding) => finding.check === check)
      assert.ok(
        own.some((finding) => what.test(finding.what)),
        JSON.stringify(found),
      )
      for (const { what, why, fix } of own) {
        for (const text of [what, why, fix]) assert.match(text, /^\S.*[^.]$/s)
      }
    })
  }

  test('finds a master key that still wraps keys after its change', async () => {
    const store = await healthyStore()
    const [older, newer] = [1, 2].map((byte) => Buffer.alloc(32, byte).toString('base64'))
    rmSync(join(store.at, 'bursar.master-key'))
    using db = new DatabaseSync(join(store.at, 'bursar.credentials.db'))
    db.exec('delete from purpose_key')
    const before = { BURSAR_MASTER_KEY: older ?? '' }
    assert.equal((await store.run(['keys', 'list'], before)).code, 0)
    const during = { BURSAR_MASTER_KEY: newer ?? '', BURSAR_MASTER_KEY_PREVIOUS: older ?? '' }
    const found = await store.findings(during)
    assert.deepEqual(
      found.map(({ check, what }) => [check, what]),
      [['keys', 'keys of the store are still wrapped with BURSAR_MASTER_KEY_PREVIOUS']],
    )
    const wrong = await store.findings({ BURSAR_MASTER_KEY: newer ?? '' })
    assert.match(String(wrong[0]?.what), /^The store's keys are wrapped with master key [0-9a-f]+/)
  })

  test('finds a limit of open files and a disk that are too small', async () => {
    const config = loadConfig({ env: {}, file: null })
    const checks = installationChecks({
      config,
      file: undefined,
      folders: [join(folder, 'not/yet/there')],
      freeBytesOf: () => 1_000_000_000,
      descriptors: 1024,
    })
    const found = await Promise.all(checks.map(async ({ find }) => await find()))
    assert.deepEqual(
      found.flat().map(({ what }) => what),
      ['a process may open 1024 files', `the disk of ${folder} has 1000 MB of free space`],
    )
  })

  test('finds connections to PostgreSQL that an attacker can read', async () => {
    const url = 'postgres://bursar:secret@db1.example/bursar'
    const [operator, reader] = [`${url}?sslmode=disable`, `${url}?sslmode=require`]
    const env = {
      DATABASE_URL: url,
      OPERATOR_DATABASE_URL: operator,
      DATABASE_READ_URLS: reader,
    }
    const config = loadConfig({ env, file: null })
    const installation = { config, file: undefined, folders: [], freeBytesOf: () => 0 }
    const tls = installationChecks(installation).find(({ name }) => name === 'tls')
    const found = (await tls?.find()) ?? []
    assert.deepEqual(
      found.map(({ what }) => what),
      [
        'OPERATOR_DATABASE_URL: the connection to db1.example:5432 is not encrypted',
        'DATABASE_READ_URLS: the connection to db1.example:5432 does not check the server’s certificate',
      ],
    )
    assert.doesNotMatch(JSON.stringify(found), /secret/)
  })

  test('can run beside a server on the same store', async () => {
    const store = await healthyStore()
    const config = loadConfig({ env: { DATABASE_URL: store.url }, file: null })
    const log = openLog('silent')
    const stores = await openServiceStores({ config, log, clock: systemTime.now })
    try {
      assert.deepEqual(await store.findings(), [])
    } finally {
      await stores.close()
    }
  })
})

/** A server that takes connections and never answers. */
async function startSilent(t: TestContext) {
  const sockets: Socket[] = []
  const server = createServer((socket) => void sockets.push(socket)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return { sockets, port: (server.address() as AddressInfo).port }
}

test('records are compared for a time, whatever the clock of the machine does', async (t) => {
  setLimits(t, { doctorCountsMs: 5000 })
  using time = takeTime()
  let steps = 0
  async function* leftOver() {
    for (;;) {
      steps += 1
      time.jump(-60_000_000n)
      await time.pause(limitNamed('doctorCountsMs') / 5)
      yield []
    }
  }
  const none = async () => []
  const rows = { after: none, unmasked: none, derived: { leftOver } }
  const records = { rows } as unknown as Pick<OperatorRecords, 'rows'>
  const kinds = resources.slice(0, 1)
  const found = recordsCheck({ resources: kinds, using: async (work) => work({ records }) }).find()
  await time.advance(limitNamed('doctorCountsMs'))
  assert.deepEqual([await found, steps, time.waiting()], [[], 5, 0])
})

test('a check of doctor that takes too long is not known, and holds no other up', async (t) => {
  // Less than the first answers of fees may take.
  setLimits(t, { doctorCheckMs: 4000 })
  const { at, findings } = await healthyStore()
  const silent = await startSilent(t)
  const file = join(at, 'silent.json')
  const rpc = [{ url: `http://127.0.0.1:${silent.port}` }]
  writeFileSync(
    file,
    JSON.stringify({ ...healthyFees(systemMs()), networks: { BITCOIN: { rpc } } }),
  )
  using time = takeTime()
  const found = findings({ BURSAR_FEE_SCHEDULE: file })
  await until(async () => {
    await time.advance(0)
    return silent.sockets.length > 0
  })
  const late = { what: 'not checked: it took too long', why: '', fix: '' }
  assert.deepEqual(await settlesAfter(time, limitNamed('doctorCheckMs'), found), [
    { check: 'fee-schedule', ...late },
    { check: 'fee-sources', ...late },
  ])
  await time.advance(limitNamed('doctorCheckMs'))
})

describe('healthcheck', () => {
  test('has exit code 0 while the server is ready, and 1 once it is gone', async () => {
    const service = await startServiceAt(await openPlace('sqlite'))
    const words = ['healthcheck', '--url', service.url]
    const ready = await runBursar('', words)
    assert.deepEqual(ready, { code: 0, out: `${service.url}/readyz is ready\n`, err: '' })
    await service.stop()
    const gone = await runBursar('', words)
    assert.equal(gone.code, 1)
    assert.equal(gone.err, `${service.url}/readyz cannot be reached\n`)
  })

  test('asks the server of the configuration, by default', async () => {
    const env = { HOST: '0.0.0.0', PORT: '9' }
    const { code, err } = await runBursar('', ['healthcheck'], '', env)
    assert.equal(code, 1)
    assert.equal(err, 'http://127.0.0.1:9/readyz cannot be reached\n')
    const operator = await runBursar('', ['healthcheck'], '', {
      ...env,
      BURSAR_OPERATOR_PORT: '10',
    })
    assert.equal(operator.err, 'http://127.0.0.1:10/readyz cannot be reached\n')
  })

  test('gives up a server that does not answer', async (t) => {
    const silent = await startSilent(t)
    using time = takeTime()
    const ran = runBursar('', ['healthcheck', '--url', `http://127.0.0.1:${silent.port}`])
    await until(() => silent.sockets.length === 1)
    const { code, err } = await settlesAfter(time, limitNamed('healthcheckMs'), ran)
    assert.deepEqual(
      [code, err.replace(/\d+\/readyz/, '')],
      [1, 'http://127.0.0.1: did not answer in time\n'],
    )
  })

  test('refuses what is no URL', async () => {
    const { code, err } = await runBursar('', ['healthcheck', '--url', 'here'])
    assert.deepEqual(
      [code, err],
      [2, '--url must be a URL such as https://api.example.com or http://127.0.0.1:8080.\n'],
    )
  })
})

describe('doctor on sealed records', () => {
  const saysOf = (findings: readonly { readonly check: string; readonly what: string }[]) =>
    findings.filter(({ check }) => ['records', 'sealing'].includes(check)).map(({ what }) => what)

  test('says how many are left to seal, which do not open, and whose key is missing', async () => {
    const { run, findings, file, at } = await healthyStore()
    const records = [1, 2, 3].map((one) =>
      aFiatAccount({
        id: anId(one),
        ref_id: `r${one}`,
        customer_id: one === 3 ? 'globex' : 'acme',
      }),
    )
    const path = join(at, 'accounts.ndjson')
    writeFileSync(path, records.map((record) => `${JSON.stringify(record)}\n`).join(''))
    assert.equal((await run(['import', 'fiat-accounts', path])).code, 0)
    assert.deepEqual(saysOf(await findings()), [])
    const rotated = await run(['customer', 'rotate-key', 'acme'])
    assert.equal(rotated.code, 0, rotated.err)
    assert.match(rotated.out, /^acme has a new key, and 2 records of it are sealed with it\.\n$/)
    assert.equal((await run(['customer', 'rotate-key', 'nobody'])).code, 1)
    assert.deepEqual(saysOf(await findings()), [])
    const db = new DatabaseSync(file)
    db.exec(`update customer_key set seals_all = 0 where customer_id = 'acme'`)
    db.exec(`update fiat_account_full set ${flipped('body')} where id = '${anId(1)}'`)
    db.exec(`delete from customer_key where customer_id = 'globex'`)
    db.close()
    assert.deepEqual(saysOf(await findings()).toSorted(), [
      '1 customer with fiat accounts or deposit instructions has no key',
      '1 stored record is damaged: its full body was changed, or belongs to a different record or version',
      '1 stored record is damaged: the key of its customer is missing or does not open',
      '2 records of 1 customer may not be sealed with the current key yet',
    ])
  })
})
