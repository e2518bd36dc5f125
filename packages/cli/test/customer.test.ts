import assert from 'node:assert/strict'
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, before, describe, test } from 'node:test'
import { type Keyring, limitNamed } from '@bursar/base'
import { asTenant, recordKinds } from '@bursar/contract'
import { auditOf } from '../../../test/support/audit.ts'
import {
  acme,
  borealis,
  openPlace,
  type StoreLocation,
  startTestService,
  type TestService,
  temporaryFolder,
} from '../../../test/support/harness.ts'
import { isLong } from '../../../test/support/long.ts'
import { aDepositAddress, aFiatAccount, anId } from '../../../test/support/records.ts'
import { type Ran, runBursar } from '../../../test/support/run-bursar.ts'
import { hourMs, untilHolds } from '../../../test/support/until.ts'
import { takeTime } from '../../../test/support/virtual-time.ts'
import { openWalk } from '../../../test/support/walk-store.ts'
import { fiatAccount } from '../../contract/src/resources/fiat-account.ts'
import { askAt } from '../../records/test/support/postgres-world.ts'
import { type ErasureDeps, eraseCustomer } from '../src/customer/run-erasure.ts'
import { sealingCheck } from '../src/doctor/sealing-check.ts'

const run = (place: StoreLocation, words: readonly string[], stdin = ''): Promise<Ran> =>
  runBursar(place.commandUrl, words, stdin)

async function jsonOf(place: StoreLocation, words: readonly string[]) {
  const { code, out, err } = await run(place, [...words, '--json'])
  assert.equal(code, 0, err)
  return JSON.parse(out)
}

/** Runs SQL past the store. `bursar.` is removed for the file. */
async function askOf({ env, superuserUrl }: StoreLocation, sql: string): Promise<void> {
  if (superuserUrl !== undefined) return void (await askAt(superuserUrl, sql))
  using db = new DatabaseSync(String(env.DATABASE_URL).replace('sqlite:', ''))
  db.exec(sql.replaceAll('bursar.', ''))
}

/** Every file that holds rows of the store, as it is on the disk. */
async function filesOf({ env, superuserUrl }: StoreLocation): Promise<readonly Buffer[]> {
  if (superuserUrl === undefined) {
    const folder = dirname(String(env.DATABASE_URL).replace('sqlite:', ''))
    return bytesOf(folder)
  }
  await askAt(superuserUrl, 'checkpoint')
  const [row = []] = await askAt(
    superuserUrl,
    `select current_setting('data_directory') || '/base/' || oid from pg_database
     where datname = current_database()`,
  )
  return bytesOf(String(row[0]))
}

/** PostgreSQL may remove a file, such as a cache of its own, after it was listed. */
const bytesOf = (folder: string): readonly Buffer[] =>
  readdirSync(folder).flatMap((name) => {
    try {
      return [readFileSync(join(folder, name))]
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
      throw error
    }
  })

/** The texts of the records of some customers, without ids, times and words of a closed list. */
async function textsOf(
  place: StoreLocation,
  isMeant: (customer: string) => boolean,
  kinds: readonly string[] = recordKinds,
): Promise<ReadonlySet<string>> {
  const texts = new Set<string>()
  const collect = (value: unknown): void => {
    if (typeof value === 'string') texts.add(value)
    if (typeof value === 'object' && value !== null)
      for (const one of Object.values(value)) collect(one)
  }
  for (const kind of kinds) {
    const { out } = await run(place, ['export', kind])
    const records = out.split('\n').filter(Boolean)
    for (const record of records.map((line) => JSON.parse(line))) {
      if (isMeant(record.customer_id)) collect(record)
    }
  }
  const isShared = /^([A-Z_]*|[\d.-]{1,7}|[0-9a-f-]{36}|\d{4}-\d\d-\d\dT.*)$/
  return new Set([...texts].filter((each) => !isShared.test(each) && each.length > 7))
}

describe('customer erase', () => {
  let place: StoreLocation
  before(async () => {
    place = await openPlace()
    if (place.superuserUrl === undefined) await run(place, ['migrate'])
  })
  after(() => place.remove())

  test('refuses a customer of whom nothing is stored, in one sentence', async () => {
    const { code, out, err } = await run(place, ['customer', 'erase', 'nobody', '--yes'])
    assert.deepEqual([code, out], [1, ''])
    assert.equal(err, 'there is no customer nobody; nothing is stored of it\n')
  })

  test('without --yes says what it would remove, and removes nothing', async () => {
    const record = `${JSON.stringify(aFiatAccount())}\n`
    await run(place, ['import', 'fiat-accounts', '-'], record)
    const asked = await run(place, ['customer', 'erase', 'acme'])
    assert.equal(asked.code, 1)
    assert.equal(
      asked.err,
      'this would remove 1 record, 0 replaced versions, 0 fee events, 1 key, 0 clients, 0 guaranteed fees of acme, for ever; --yes removes them\n',
    )
    const { out } = await run(place, ['export', 'fiat-accounts'])
    assert.equal(out.split('\n').length, 2)
    const { erasures } = await jsonOf(place, ['customer', 'erasures'])
    assert.deepEqual(erasures, [])
  })

  test('lists each erasure on a line, and erases a customer that has come back again', async () => {
    const first = await jsonOf(place, ['customer', 'erase', 'acme', '--yes'])
    assert.equal(first.removed.records, 1)
    const again = await jsonOf(place, ['customer', 'erase', 'acme', '--yes'])
    assert.deepEqual(again, first)
    const listed = await run(place, ['customer', 'erasures'])
    const entry = { customer_id: 'acme', erased_at: first.erased_at }
    assert.equal(listed.out, `${JSON.stringify(entry)}\n`)
    await run(place, ['import', 'fiat-accounts', '-'], `${JSON.stringify(aFiatAccount())}\n`)
    const second = await jsonOf(place, ['customer', 'erase', 'acme', '--yes'])
    assert.equal(second.removed.records, 1)
    const { erasures } = await jsonOf(place, ['customer', 'erasures'])
    assert.equal(erasures.length, 2)
  })

  test('stands in the audit log before and after, with the customer', async () => {
    const entries = (await auditOf(place)).filter(
      ({ command }) => command?.name === 'customer erase' && command.arguments[0] === 'acme',
    )
    assert.deepEqual(entries.map(({ outcome, customers }) => [outcome, customers]).slice(-2), [
      ['begun', undefined],
      ['done', ['acme']],
    ])
  })

  test('names customers that look like the one to erase, in the preview and in the result', async () => {
    const ids = ['café', 'cafe\u0301', 'CAFÉ', 'ｃａｆé', 'ca fe', 'other', 'another']
    const records = ids.map((customer_id, at) =>
      JSON.stringify(aFiatAccount({ id: anId(50 + at), customer_id })),
    )
    await run(place, ['import', 'fiat-accounts', '-'], `${records.join('\n')}\n`)
    await run(place, ['customer', 'name', 'other', 'Café'])
    await run(place, ['customer', 'name', 'another', 'Cafeteria'])
    const look_alikes = [
      { customer_id: 'CAFÉ' },
      { customer_id: 'cafe\u0301' },
      { customer_id: 'other', name: 'Café' },
      { customer_id: 'ｃａｆé' },
    ]
    const asked = await run(place, ['customer', 'erase', 'café'])
    assert.match(asked.err, /^CAFÉ looks like it, and is another customer$/m)
    assert.match(asked.err, /^other, Café, looks like it, and is another customer$/m)
    const alikeOf = (document: { readonly look_alikes: readonly { customer_id: string }[] }) =>
      document.look_alikes.toSorted((one, two) => (one.customer_id < two.customer_id ? -1 : 1))
    const preview = await run(place, ['customer', 'erase', 'café', '--json'])
    assert.deepEqual(alikeOf(JSON.parse(preview.out)), look_alikes)
    assert.deepEqual(
      alikeOf(await jsonOf(place, ['customer', 'erase', 'café', '--yes'])),
      look_alikes,
    )
  })
})

describe('the waits of an erasure', () => {
  /** The times of the steps after the beginning, where the client was disabled before it. */
  async function timesOf(isServed: boolean, disabledMsAgo = 0) {
    using time = takeTime()
    const begunMs = time.elapsedMs()
    const steps: string[] = []
    const inTwoSteps = (what: string, part: object) => async () => {
      steps.push(`${what} at ${time.elapsedMs() - begunMs} ms`)
      const isLast = steps.filter((step) => step.startsWith(what)).length === 2
      return { ...part, next: isLast ? undefined : what }
    }
    const client = { name: '', disabledAt: time.now() - BigInt(disabledMsAgo) * 1000n }
    const stores = {
      credentials: () => ({
        clientsOf: async () => [client],
        beginErasure: async (erasure: object) => erasure,
        endErasure: async () => void steps.push(`ended at ${time.elapsedMs() - begunMs} ms`),
      }),
      quotes: () => ({
        operator: {
          times: async () => ({ now: time.now() }),
          eraseSome: inTwoSteps('fees', { count: 1 }),
        },
      }),
      records: () => ({ operator: { eraseSome: inTwoSteps('records', { removed: {} }) } }),
    } as unknown as ErasureDeps['stores']
    const tell = (text: string) => void steps.push(text)
    const deps = { stores, keyring: {} as Keyring, isServed, tell }
    const erasing = eraseCustomer(deps, 'acme', undefined)
    await time.advance(limitNamed('clientRefusedMs') + 2 * limitNamed('eraseRestMs'))
    await erasing
    return steps
  }

  const stepsFrom = (ms: number) => [
    ...(ms > 0 ? ['waiting up to 10 s, until every server refuses the customer’s clients'] : []),
    `fees at ${ms} ms`,
    `fees at ${ms + limitNamed('eraseRestMs')} ms`,
    `records at ${ms + limitNamed('eraseRestMs')} ms`,
    `records at ${ms + 2 * limitNamed('eraseRestMs')} ms`,
    `ended at ${ms + 2 * limitNamed('eraseRestMs')} ms`,
  ]

  test('last until every server refuses the clients, and there is a rest between steps', async () => {
    assert.deepEqual(await timesOf(true), stepsFrom(limitNamed('clientRefusedMs')))
    assert.deepEqual(await timesOf(true, 4000), stepsFrom(limitNamed('clientRefusedMs') - 4000))
    assert.deepEqual(await timesOf(true, limitNamed('clientRefusedMs')), stepsFrom(0))
    // A clock that was set back does not make the wait longer.
    assert.deepEqual(await timesOf(true, -hourMs), stepsFrom(limitNamed('clientRefusedMs')))
  })

  test('do without the servers in a recovery', async () => {
    assert.deepEqual(await timesOf(false), stepsFrom(0))
  })
})

describe('a recovery', () => {
  let place: StoreLocation
  const folder = temporaryFolder()
  const list = join(folder, 'erasures.ndjson')
  before(async () => {
    place = await openPlace()
    if (place.superuserUrl === undefined) await run(place, ['migrate'])
  })
  after(async () => {
    rmSync(folder, { recursive: true, force: true })
    await place.remove()
  })

  const fill = async () => {
    const records = ['acme', 'borealis', 'corvid'].map((customer_id, at) =>
      JSON.stringify(aFiatAccount({ id: anId(at + 1), customer_id, ref_id: `r-${at}` })),
    )
    await run(place, ['import', 'fiat-accounts', '-'], `${records.join('\n')}\n`)
  }

  test('ends only after the erasures since the restored state are repeated', async () => {
    await fill()
    await run(place, ['reconcile', '--restored-to', '2026-11-20T12:00:00Z'])
    for (const words of [['--clients-confirmed'], ['--reconciled']]) {
      const { code, err } = await run(place, ['reconcile', ...words])
      assert.equal(code, 1)
      assert.match(err, /^customers that were erased after the backup .* reconcile --erasures FILE/)
    }
    const before = await jsonOf(place, ['reconcile'])
    assert.equal(before.erasures_repeated_at, null)
    const erasures = [
      { customer_id: 'acme', erased_at: '2026-11-20T12:00:01Z' },
      { customer_id: 'borealis', erased_at: '2026-11-20T12:00:00Z' },
      { customer_id: 'nobody', erased_at: null },
    ]
    writeFileSync(list, erasures.map((one) => `${JSON.stringify(one)}\n`).join(''))
    const asked = await run(place, ['reconcile', '--erasures', list])
    assert.deepEqual(
      [asked.code, asked.out],
      [
        1,
        'acme, erased at 2026-11-20T12:00:01Z: 1 record, 0 replaced versions, 0 fee events, 1 key, 0 clients, 0 guaranteed fees (1 of fiat-accounts)\nnobody, erased at an unknown time: 0 records, 0 replaced versions, 0 fee events, 0 keys, 0 clients, 0 guaranteed fees\n',
      ],
    )
    assert.match(asked.err, /^this would erase 2 customers again, for ever; --yes erases them/)
    const preview = await run(place, ['reconcile', '--erasures', list, '--json'])
    const [first, ...others] = JSON.parse(preview.out).would_erase
    assert.equal(others.length, 1)
    assert.deepEqual(first.records_by_kind, { 'fiat-accounts': 1 })
    assert.equal(first.would_remove.keys, 1)
    const { erasures_repeated_at: isClosed } = await jsonOf(place, ['reconcile'])
    assert.equal(isClosed, null)
    const repeated = await jsonOf(place, ['reconcile', '--erasures', list, '--yes'])
    assert.match(repeated.erasures_repeated_at, /^\d{4}-/)
    const { out } = await run(place, ['export', 'fiat-accounts'])
    const left = out.split('\n').filter(Boolean)
    assert.deepEqual(
      left.map((line) => JSON.parse(line).customer_id),
      ['borealis', 'corvid'],
    )
    // An older backup has them too.
    const listed = await jsonOf(place, ['customer', 'erasures'])
    assert.deepEqual(
      listed.erasures.map((one: { customer_id: string }) => one.customer_id),
      ['acme', 'nobody'],
    )
    const ended = await jsonOf(place, ['reconcile', '--reconciled'])
    assert.equal(ended.in_recovery, false)
    const late = await run(place, ['reconcile', '--erasures', list, '--yes'])
    assert.deepEqual([late.code, late.err.includes('not in recovery')], [1, true])
  })

  test('takes the list as one document, or empty, and nothing of a list with a bad line', async () => {
    await fill()
    await run(place, ['reconcile', '--restored-to', '2026-11-20T12:00:00Z'])
    const good = { customer_id: 'acme', erased_at: '2026-11-21T12:00:00Z' }
    const bad: readonly (readonly [text: string, message: RegExp])[] = [
      [`${JSON.stringify(good)}\n{"customer_id":7}\n`, /line 2 must be an object with customer_id/],
      [`${JSON.stringify(good)}\nnorthwind\n`, /line 2 must be an object/],
      ['{"customer_id":"acme","erased_at":"yesterday"}', /line 1: erased_at must be a time/],
      ['{"erasures":[{}]}', /entry 1 must be an object/],
    ]
    for (const [text, message] of bad) {
      writeFileSync(list, text)
      const { code, err } = await run(place, ['reconcile', '--erasures', list, '--yes'])
      assert.equal(code, 1, text)
      assert.match(err, message)
    }
    const { erasures_repeated_at: none } = await jsonOf(place, ['reconcile'])
    assert.equal(none, null)
    // A shell of Windows writes a mark before the text, or UTF-16.
    const document = `\ufeff${JSON.stringify({ erasures: [good] })}`
    writeFileSync(list, document, 'utf16le')
    const { err } = await run(place, ['reconcile', '--erasures', list])
    assert.equal(err, `${list} is UTF-16; save it as UTF-8\n`)
    writeFileSync(list, document)
    await jsonOf(place, ['reconcile', '--erasures', list, '--yes'])
    const { out } = await run(place, ['export', 'fiat-accounts', '--customer', 'acme'])
    assert.equal(out, '')
    writeFileSync(list, '')
    const again = await jsonOf(place, ['reconcile', '--erasures', list, '--yes'])
    assert.match(again.erasures_repeated_at, /^\d{4}-/)
  })
})

describe('the erasures that a store knows', () => {
  let place: StoreLocation
  const folder = temporaryFolder()
  const list = join(folder, 'erasures.ndjson')
  before(async () => {
    place = await openPlace()
    if (place.superuserUrl === undefined) await run(place, ['migrate'])
    writeFileSync(list, '')
  })
  after(async () => {
    rmSync(folder, { recursive: true, force: true })
    await place.remove()
  })
  const importOne = async (customer_id: string, at: number) => {
    const record = aFiatAccount({ id: anId(at), customer_id, ref_id: `known-${at}` })
    const { code, err } = await run(
      place,
      ['import', 'fiat-accounts', '-'],
      `${JSON.stringify(record)}\n`,
    )
    assert.equal(code, 0, err)
  }
  const left = async () =>
    (await run(place, ['export', 'fiat-accounts'])).out
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line).customer_id)

  test('are repeated with an empty list, if they are later than the restored state', async () => {
    await importOne('earlier', 1)
    await jsonOf(place, ['customer', 'erase', 'earlier', '--yes'])
    const restoredTo = new Date().toISOString()
    await importOne('later', 2)
    await jsonOf(place, ['customer', 'erase', 'later', '--yes'])
    await importOne('earlier', 1)
    await importOne('later', 2)
    await jsonOf(place, ['reconcile', '--restored-to', restoredTo])
    const asked = await run(place, ['reconcile', '--erasures', list])
    assert.deepEqual([asked.code, asked.out.startsWith('later, erased at ')], [1, true])
    assert.deepEqual(await left(), ['earlier', 'later'])
    await jsonOf(place, ['reconcile', '--erasures', list, '--yes'])
    assert.deepEqual(await left(), ['earlier'])
  })

  test('are not repeated twice: who came back after the first time keeps the new records', async () => {
    await importOne('later', 3)
    const known = (await run(place, ['customer', 'erasures'])).out
    writeFileSync(list, known)
    await jsonOf(place, ['reconcile', '--erasures', list, '--yes'])
    assert.deepEqual(await left(), ['earlier', 'later'])
  })

  test('are listed without any key of the store', async () => {
    const { code, out, err } = await runBursar(place.commandUrl, ['customer', 'erasures'], '', {
      BURSAR_MASTER_KEY: Buffer.alloc(32, 1).toString('base64'),
    })
    assert.equal(code, 0, err)
    assert.deepEqual(Object.keys(JSON.parse(out.split('\n')[0] ?? '')), [
      'customer_id',
      'erased_at',
    ])
  })

  test('need --yes only where they are repeated', async () => {
    const { code, err } = await run(place, ['reconcile', '--yes'])
    assert.deepEqual([code, err], [2, 'Give --yes with --erasures.\n'])
  })
})

describe('beside a running server', () => {
  let service: TestService
  before(async () => {
    service = await startTestService()
  })
  after(() => service.stop())

  test('an erased customer is gone within the command, and its bytes after a compaction', async () => {
    const { place } = service
    const isAcme = (customer: string) => customer === acme.customerId
    const others = await textsOf(place, (customer) => !isAcme(customer))
    const all = [...(await textsOf(place, isAcme))].filter((one) => !others.has(one))
    // Each text is sought in every file.
    const texts = isLong ? all : all.filter((_, at) => at % 10 === 0)
    assert.ok(texts.length > 20, String(texts.length))
    const found = async () => {
      const files = await filesOf(place)
      return texts.filter((text) => files.some((bytes) => bytes.includes(text)))
    }
    const ofAccounts = await textsOf(place, isAcme, ['fiat-accounts'])
    const isNumber = (text: string) => /^(\d+|[A-Z]{2}\d{2}[A-Z0-9]{11,})$/.test(text)
    const isSealed = (text: string) => isNumber(text) && ofAccounts.has(text)
    assert.ok(texts.filter(isSealed).length > 20)
    assert.deepEqual(
      await found(),
      texts.filter((text) => !isSealed(text)),
    )
    const lists = async () =>
      await Promise.all(
        ['/v2/transfer/fiat-accounts', '/v2/transfer/deposit-addresses', '/v2/events'].map(
          async (path) => (await service.call(path, { as: borealis })).body.items,
        ),
      )
    const before = await lists()
    const token = await service.tokenOf(acme)
    assert.equal((await service.call('/v2/transfer/deposit-addresses', { token })).status, 200)

    const erased = await jsonOf(place, ['customer', 'erase', acme.customerId, '--yes'])
    assert.equal((await service.call('/v2/transfer/deposit-addresses', { token })).status, 401)
    assert.ok(erased.removed.records > 0 && erased.removed.clients > 0)
    assert.deepEqual(await lists(), before)
    const walk = openWalk(service.parts.store)
    await walk.round()
    assert.deepEqual(walk.said, [])

    const owner = place.superuserUrl ?? place.commandUrl
    if (place.superuserUrl === undefined) {
      const refused = await runBursar(owner, ['compact'])
      assert.deepEqual([refused.code, refused.err.startsWith('a server uses the store')], [1, true])
    }
    // On PostgreSQL a compaction keeps rows that a transaction of the server still sees.
    await untilHolds('a compaction leaves no byte', async () => {
      const compacted = await runBursar(owner, ['compact', '--online', '--json'])
      assert.equal(compacted.code, 0, compacted.err)
      return (await found()).length === 0
    })
    assert.deepEqual(await lists(), before)
  })

  test('an erased customer’s rows and key that are put back are not answered, and are found', async () => {
    const { place, parts } = service
    const record = aFiatAccount({ id: anId(1), customer_id: 'northwind', ref_id: 'put-back' })
    await run(place, ['import', 'fiat-accounts', '-'], `${JSON.stringify(record)}\n`)
    const tenant = asTenant('northwind')
    const get = () => parts.store.customers.get(tenant, fiatAccount.full, anId(1), false)
    assert.ok(await get())
    const tables = ['fiat_account', 'fiat_account_full', 'customer_key']
    const each = async (sql: (table: string) => string) => {
      for (const table of tables) await askOf(place, sql(table))
    }
    const isOwn = (table: string) =>
      table === 'customer_key'
        ? "customer_id = 'northwind'"
        : "customer = (select number from bursar.customer where id = 'northwind')"
    await each(
      (table) =>
        `create table bursar.saved_${table} as select * from bursar.${table} where ${isOwn(table)}`,
    )
    await jsonOf(place, ['customer', 'erase', 'northwind', '--yes'])
    await each((table) => `insert into bursar.${table} select * from bursar.saved_${table}`)
    // Until its next poll, the server has the key in memory.
    await untilHolds('the key is not used', async () =>
      get().then(
        () => false,
        ({ message }) => /an erasure of its customer has destroyed its key/.test(message),
      ),
    )
    const erasures = await parts.credentials.listErasures()
    const findings = await sealingCheck({
      using: (work) => work({ records: parts.store.operator, erasures }),
    }).find()
    assert.deepEqual(
      findings.map(({ what }) => what),
      ['the store has 1 record from before its erasure and its destroyed key of northwind'],
    )
    await jsonOf(place, ['customer', 'erase', 'northwind', '--yes'])
    await run(place, ['import', 'fiat-accounts', '-'], `${JSON.stringify(record)}\n`)
    assert.ok(await get())
  })
})

describe('customer name', () => {
  let place: StoreLocation
  before(async () => {
    place = await openPlace()
    if (place.superuserUrl === undefined) await run(place, ['migrate'])
    const lines = ['acme', 'borealis'].map((customer_id, at) =>
      JSON.stringify(aFiatAccount({ id: anId(at + 1), customer_id, ref_id: `n-${at}` })),
    )
    await run(place, ['import', 'fiat-accounts', '-'], `${lines.join('\n')}\n`)
  })
  after(() => place.remove())

  test('gives a name, by which the list finds the customer, and takes it away', async () => {
    const named = await run(place, ['customer', 'name', 'acme', ' Great  Northern '])
    assert.deepEqual([named.code, named.out], [0, 'acme is shown as Great Northern.\n'])
    const listed = await run(place, ['customer', 'list'])
    assert.equal(listed.out, 'acme (Great Northern): 1 record\nborealis: 1 record\n')
    const { customers } = await jsonOf(place, ['customer', 'list', '--prefix', 'north'])
    assert.deepEqual(
      customers.map(({ id, name }: Record<string, string>) => [id, name]),
      [['acme', 'Great Northern']],
    )
    assert.equal((await run(place, ['customer', 'name', 'acme', '--remove'])).code, 0)
    assert.equal((await run(place, ['customer', 'list', '--prefix', 'north'])).out, '')
  })

  test('refuses a name of two lines, an unknown customer and a missing name', async () => {
    const refusals = [
      { words: ['acme', 'A\nB'], says: /a display name is one line of 1 to 100 characters/ },
      { words: ['nobody', 'Name'], says: /there is no customer nobody/ },
      { words: ['acme'], says: /write the display name, or --remove/ },
      { words: ['acme', 'Name', '--remove'], says: /name the customer alone with --remove/ },
    ]
    for (const { words, says } of refusals) {
      const { code, err } = await run(place, ['customer', 'name', ...words])
      assert.notEqual(code, 0)
      assert.match(err, says)
    }
  })

  test('stands in the audit log with the customer, and without the name', async () => {
    await run(place, ['customer', 'name', 'borealis', 'Secret Project'])
    const entries = (await auditOf(place)).filter(
      ({ command }) => command?.name === 'customer name' && command.arguments[0] === 'borealis',
    )
    assert.deepEqual(
      entries.map(({ outcome, customers }) => [outcome, customers]),
      [
        ['begun', undefined],
        ['done', ['borealis']],
      ],
    )
    assert.doesNotMatch(JSON.stringify(entries), /Secret/)
  })

  test('reindex says which counts are wrong, and corrects them with --yes', async () => {
    const right = await run(place, ['reindex'])
    const compared = '2 records compared; 0 differences; nothing was changed\n'
    assert.deepEqual([right.code, right.out], [0, compared])
    await askOf(place, 'update bursar.revision set live = 4')
    const found = await run(place, ['reindex'])
    const wrong = ['acme', 'borealis'].map(
      (id) => `customer "${id}" has 1 fiat-accounts, where 4 are kept\n`,
    )
    const says = '2 records compared; 2 differences; '
    assert.equal(found.out, `${wrong.join('')}${says}nothing was changed\n`)
    const corrected = await run(place, ['reindex', '--yes'])
    assert.equal(corrected.out, `${wrong.join('')}${says}2 written again\n`)
    assert.equal((await run(place, ['reindex'])).out, compared)
  })

  test('lists what is current, and apart what was deleted or withdrawn', async () => {
    const account = (deleted_at: string | null) =>
      aFiatAccount({ id: anId(9), customer_id: 'acme', ref_id: 'n-9', deleted_at })
    const address = (customer_id: string, id: string) =>
      aDepositAddress({ id, customer_id, ref_id: `of-${customer_id}` })
    const deletedAt = '2026-01-02T00:00:00Z'
    const steps: readonly (readonly [string, object, readonly string[]])[] = [
      ['fiat-accounts', account(null), ['acme: 2 records', 'borealis: 1 record']],
      [
        'fiat-accounts',
        account(deletedAt),
        ['acme: 1 record, and 1 deleted or withdrawn', 'borealis: 1 record'],
      ],
      ['fiat-accounts', account(null), ['acme: 2 records', 'borealis: 1 record']],
      [
        'deposit-addresses',
        address('borealis', anId(11)),
        ['acme: 2 records', 'borealis: 2 records'],
      ],
      [
        'deposit-addresses',
        address('acme', anId(12)),
        ['acme: 3 records', 'borealis: 1 record, and 1 deleted or withdrawn'],
      ],
    ]
    for (const [kind, record, lines] of steps) {
      const words = ['import', kind, '-', '--allow-older', '--take-over']
      const stored = await run(place, words, `${JSON.stringify(record)}\n`)
      assert.equal(stored.code, 0, stored.err)
      const { out } = await run(place, ['customer', 'list'])
      const unnamed = out.trimEnd().replace(' (Secret Project)', '')
      assert.deepEqual(unnamed.split('\n'), lines)
    }
    const { customers } = await jsonOf(place, ['customer', 'list', '--prefix', 'bor'])
    const kinds = Object.fromEntries(recordKinds.map((kind) => [kind, 0]))
    assert.deepEqual(customers[0].counts, { ...kinds, 'fiat-accounts': 1 })
    assert.deepEqual(customers[0].deleted_counts, { ...kinds, 'deposit-addresses': 1 })
  })
})
