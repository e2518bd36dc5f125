import assert from 'node:assert/strict'
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, before, describe, test } from 'node:test'
import { gzipSync, zstdCompressSync } from 'node:zlib'
import { openLog, systemRandom, systemTime } from '@bursar/base'
import { eventKinds, resources } from '@bursar/contract'
import { createSampleClient } from '@bursar/oauth'
import { createStore, openOperatorStores, type Stores } from '@bursar/server/stores'
import { create, extract } from 'tar'
import { auditOf } from '../../../test/support/audit.ts'
import { configOf, temporaryFolder } from '../../../test/support/harness.ts'
import { take } from '../../../test/support/record-store.ts'
import { aDepositAddress, aFiatAccount, anId } from '../../../test/support/records.ts'
import { collectOutput, runBursar } from '../../../test/support/run-bursar.ts'
import { storeDisabled } from '../../../test/support/store-disabled.ts'
import { flipped } from '../../../test/support/test-sealing.ts'
import { fiatAccount } from '../../contract/src/resources/fiat-account.ts'
import { acme, aQuote, aWithdrawal, idOf, wallet } from '../../records/test/support/quotes.ts'
import { describeEvent } from '../../server/src/works/events/describe-event.ts'
import { backupCommand } from '../src/backup/backup.ts'
import { reconcileCommand } from '../src/backup/reconcile.ts'
import { restoreCommand } from '../src/backup/restore.ts'
import { eraseCustomer } from '../src/customer/run-erasure.ts'
import { feeCommand } from '../src/fee.ts'

const folder = temporaryFolder()
after(() => rmSync(folder, { recursive: true, force: true }))

const commands = {
  backup: backupCommand,
  restore: restoreCommand,
  reconcile: reconcileCommand,
  fee: feeCommand,
}

/** Runs a command in this process. */
async function run(name: keyof typeof commands, words: readonly string[], database: string) {
  const { output, printed } = collectOutput()
  const command = commands[name](output, systemTime.now)
  await command.parseAsync([...words, '--database', database], { from: 'user' })
  const { out, err } = printed()
  return { out: out.trimEnd(), told: err.trimEnd() }
}

const pathOf = (name: string) => join(folder, name, 'bursar.db')
const keyFileOf = (name: string) => join(folder, name, 'bursar.master-key')
const urlOf = (name: string) => `sqlite:${pathOf(name)}`
const openStores = async (name: string): Promise<Stores> => {
  const config = configOf({ DATABASE_URL: urlOf(name) })
  const sources = { config, clock: systemTime.now, log: openLog('silent') }
  await createStore(sources)
  return await openOperatorStores(sources)
}

/** Everything that a store holds, save what a restore changes. */
async function contentOf(name: string) {
  const stores = await openStores(name)
  try {
    const lines = resources.map((resource) =>
      Array.fromAsync(stores.records().operator.exportLines(resource, undefined)),
    )
    const credentials = stores.credentials()
    const { deniedTokens, keysChanged } = await credentials.readStates(0n)
    const clients = await credentials.listClients()
    return {
      records: await Promise.all(lines),
      clients: clients.map((client) => ({ ...client, notBefore: 0n })),
      keys: await credentials.readPurposeKeys(),
      deniedTokens,
      keysChanged,
      quote: await stores.quotes().operator.find(aQuote().id),
    }
  } finally {
    await stores.close()
  }
}

/** The store stays open, as under a running server. Its last changes are in the WAL. */
let live: Stores
before(async () => {
  live = await openStores('live')
  await take(live.records(), 'fiat-accounts', [aFiatAccount()])
  await take(live.records(), 'deposit-addresses', [aDepositAddress()])
  const store = live.credentials()
  const keyring = await live.keyring(store)
  const deps = { store, keyring, clock: systemTime.now, random: systemRandom }
  const scopes = ['transfer:read_fiat_account']
  const client = {
    id: 'client_1',
    secret: 'secret_1',
    customerId: 'acme',
    name: 'treasury',
    scopes,
  }
  await createSampleClient(deps, client)
  await store.denyToken('token-1', systemTime.now() + 900_000_000n, systemTime.now())
  await live.quotes().customers.issue(acme, aQuote(), 1000)
})
after(() => live.close())

const backupOf = (name: string) => join(folder, name)
const copyOfLive = (name: string) => {
  mkdirSync(join(folder, name))
  cpSync(join(folder, 'live'), join(folder, name), { recursive: true })
}

describe('backup', () => {
  test('of a store in use restores as the same store, compressed or not', async () => {
    const content = await contentOf('live')
    assert.equal(content.clients.length, 1)
    for (const name of ['plain.tar', 'small.tar.gz']) {
      const { out, told } = await run('backup', [backupOf(name)], urlOf('live'))
      const { size, mode } = statSync(backupOf(name))
      assert.equal(out, `${backupOf(name)}: ${size} bytes, read back and verified`)
      assert.match(told, /^the master key is not in the backup/)
      assert.equal(mode & 0o777, 0o600)
      const restored = await run('restore', [backupOf(name)], urlOf(`${name}-store`))
      assert.match(restored.out, /: restored as it was at \d{4}-\d\d-\d\dT[\d:.]+Z$/)
      assert.match(restored.told, /\nThe master key is missing/)
      copyFileSync(keyFileOf('live'), keyFileOf(`${name}-store`))
      assert.deepEqual(await contentOf(`${name}-store`), content)
      const store = dirname(pathOf(`${name}-store`))
      assert.equal(statSync(store).mode & 0o777, 0o700)
      const modes = readdirSync(store).map((file) => statSync(join(store, file)).mode & 0o777)
      assert.deepEqual([modes.length >= 2, ...new Set(modes)], [true, 0o600])
    }
    assert.ok(statSync(backupOf('small.tar.gz')).size < statSync(backupOf('plain.tar')).size / 5)
    assert.deepEqual(
      readdirSync(folder).filter((name) => name.startsWith('.')),
      [],
    )
  })

  test('restores events with their ids, and those of lost events are given to no other', async () => {
    const name = 'lost-events'
    const idsOf = async (storedAfter: readonly object[]) => {
      const stores = await openStores(name)
      try {
        for (const record of storedAfter) await take(stores.records(), 'fiat-accounts', [record])
        const all = { kinds: new Set<string>(eventKinds), order: 'ASC', after: undefined } as const
        const found = await stores
          .records()
          .operator.eventsOf('acme')
          .page({ ...all, limit: 100 })
        return found.events.map((event) => describeEvent(event, found.secret).id)
      } finally {
        await stores.close()
      }
    }
    const one = (at: number) => aFiatAccount({ id: anId(at), ref_id: `lost-${at}` })
    const before = await idsOf([one(301)])
    await run('backup', [backupOf(`${name}.tar`)], urlOf(name))
    const lost = (await idsOf([one(302), one(303)])).slice(before.length)
    await run('restore', [backupOf(`${name}.tar`), '--replace'], urlOf(name))
    assert.deepEqual(await idsOf([]), before)
    // The same records, which get the same numbers.
    const after = await idsOf([one(302), one(303)])
    assert.deepEqual(after.slice(0, before.length), before)
    assert.equal(new Set([...after, ...lost]).size, before.length + 4)
  })

  test('never overwrites a file, and makes no folder and no store', async () => {
    writeFileSync(backupOf('kept.tar'), 'precious')
    await assert.rejects(run('backup', [backupOf('kept.tar')], urlOf('live')), {
      message: `${backupOf('kept.tar')} already exists; choose another name`,
    })
    assert.equal(readFileSync(backupOf('kept.tar'), 'utf8'), 'precious')
    await assert.rejects(run('backup', [join(folder, 'unmounted/a.tar')], urlOf('live')), {
      message: `there is no folder ${join(folder, 'unmounted')}`,
    })
    assert.equal(existsSync(join(folder, 'unmounted')), false)
    await assert.rejects(
      run('backup', [backupOf('none.tar')], urlOf('none')),
      /there is no store at/,
    )
    assert.deepEqual([existsSync(backupOf('none.tar')), existsSync(pathOf('none'))], [false, false])
  })

  test('of a damaged store is refused, and leaves no file', async () => {
    await run('backup', [backupOf('before-damage.tar')], urlOf('live'))
    await run('restore', [backupOf('before-damage.tar')], urlOf('damaged'))
    copyFileSync(keyFileOf('live'), keyFileOf('damaged'))
    const bytes = readFileSync(pathOf('damaged'))
    const db = new DatabaseSync(pathOf('damaged'))
    const query = "select rootpage from sqlite_schema where name = 'fiat_account_by_id'"
    const page = Number(db.prepare(query).get()?.rootpage)
    db.close()
    // Only the integrity check notices an index that has lost its rows. The schema is on page 1.
    for (const at of [page, 1]) {
      bytes.fill(0, at === 1 ? 100 : 8192 * (at - 1), 8192 * at)
      writeFileSync(pathOf('damaged'), bytes)
      await assert.rejects(
        run('backup', [backupOf('damaged.tar')], urlOf('damaged')),
        /^CommandFailed: the store is damaged, so there is no backup of it; restore an earlier one:\n/,
      )
      assert.equal(existsSync(backupOf('damaged.tar')), false, `page ${at}`)
    }
  })

  test('and restore refuse PostgreSQL and name its own tools', async () => {
    const url = 'postgres://bursar@127.0.0.1:1/bursar'
    await assert.rejects(
      run('backup', [backupOf('pg.tar')], url),
      /pg_dump as the role bursar_backup/,
    )
    await assert.rejects(run('restore', [backupOf('pg.tar')], url), /pg_restore/)
  })
})

describe('restore', () => {
  before(() => run('backup', [backupOf('good.tar')], urlOf('live')))

  test('keeps a store that exists unless --replace is given', async () => {
    copyOfLive('kept')
    const changed = await openStores('kept')
    await take(changed.records(), 'fiat-accounts', [
      aFiatAccount({ id: anId(77), ref_id: 'later' }),
    ])
    await changed.close()
    const content = await contentOf('kept')
    await assert.rejects(run('restore', [backupOf('good.tar')], urlOf('kept')), {
      message: `there is a store at ${pathOf('kept')}; --replace replaces it`,
    })
    assert.deepEqual(await contentOf('kept'), content)
    const { told } = await run('restore', [backupOf('good.tar'), '--replace'], urlOf('kept'))
    assert.equal(
      told,
      'every token is revoked, no client gets one, and no restored fee can be consumed, until the erasures since are repeated and the store is reconciled; run `npm run -s bursar -- reconcile`',
    )
    assert.deepEqual(await contentOf('kept'), await contentOf('live'))
  })

  test('gives no line of the audit log the identifier of one that was lost', async () => {
    const linesOf = async (name: string) => {
      const { out } = await runBursar(urlOf(name), ['audit', '--json'])
      const lines = out.trimEnd().split('\n')
      return new Map(lines.map((line) => [JSON.parse(line).id as string, line]))
    }
    const change = (name: string) => runBursar(urlOf(name), ['keys', 'rotate'])
    copyOfLive('lost-lines')
    copyFileSync(keyFileOf('live'), keyFileOf('lost-lines'))
    await change('lost-lines')
    const kept = await linesOf('lost-lines')
    await run('backup', [backupOf('lost-lines.tar')], urlOf('lost-lines'))
    await change('lost-lines')
    const before = await linesOf('lost-lines')
    assert.ok(before.size > kept.size)
    // The lines are lost in the first case, and kept in the second.
    for (const [name, options] of [
      ['without-lines', []],
      ['lost-lines', ['--replace']],
    ] as const) {
      await run('restore', [backupOf('lost-lines.tar'), ...options], urlOf(name))
      if (name === 'without-lines') copyFileSync(keyFileOf('live'), keyFileOf(name))
      await change(name)
      const after = await linesOf(name)
      const shared = [...before.keys()].filter((id) => after.has(id))
      assert.ok(shared.length >= kept.size && after.size > shared.length, name)
      for (const id of shared) assert.equal(after.get(id), before.get(id), name)
    }
  })

  test('keeps the audit log of the store that it replaces, and has an entry itself', async () => {
    copyOfLive('audited')
    copyFileSync(keyFileOf('live'), keyFileOf('audited'))
    await run('backup', [backupOf('audited.tar')], urlOf('audited'))
    const place = {
      env: { DATABASE_URL: urlOf('audited') },
      commandUrl: '',
      remove: async () => {},
    }
    await run('reconcile', [], urlOf('audited'))
    const before = await auditOf(place)
    await run('restore', [backupOf('audited.tar'), '--replace'], urlOf('audited'))
    const after = await auditOf(place)
    const restored = after.slice(before.length)
    assert.deepEqual(after.slice(0, before.length), before)
    assert.deepEqual(
      restored.map(({ action, command, outcome }) => [action, command?.name, outcome]),
      [
        ['open_log', undefined, 'done'],
        ['command', 'restore', 'begun'],
        ['command', 'restore', 'done'],
      ],
    )
  })

  test('keeps the list of erasures of the store that it replaces, which the recovery repeats', async () => {
    copyOfLive('erased')
    copyFileSync(keyFileOf('live'), keyFileOf('erased'))
    const url = urlOf('erased')
    await run('backup', [backupOf('erased.tar')], url)
    const before = await contentOf('erased')
    assert.ok(before.records.flat().length > 0)
    const stores = await openStores('erased')
    const keyring = await stores.keyring(stores.credentials())
    await eraseCustomer({ stores, keyring, isServed: false }, 'acme', undefined)
    await stores.close()
    assert.deepEqual((await contentOf('erased')).records.flat(), [])
    const words = [backupOf('erased.tar'), '--replace', '--json']
    const restored = await run('restore', words, url)
    assert.equal(JSON.parse(restored.out).erasures_kept, 1)
    assert.match(restored.told, /the list of the replaced store is kept: 1 erasure, which/)
    await assert.rejects(contentOf('erased'), /an erasure of its customer has destroyed its key/)
    // The list that the operator has kept is empty, and the store’s own is not.
    const asked = run('reconcile', ['--erasures', '/dev/null'], url)
    await assert.rejects(asked, /this would erase 1 customer again/)
    await run('reconcile', ['--erasures', '/dev/null', '--yes'], url)
    const after = await contentOf('erased')
    assert.deepEqual(after.records.flat(), [])
    assert.deepEqual([after.quote?.isErased, after.clients[0]?.name], [true, ''])
    await run('reconcile', ['--reconciled'], url)
  })

  test('starts a recovery, in which the operator repeats what the backup does not have', async () => {
    copyOfLive('recovering')
    const url = urlOf('recovering')
    const id = idOf(7)
    const withStores = async <T>(work: (stores: Stores) => Promise<T>) => {
      const stores = await openStores('recovering')
      return work(stores).finally(stores.close)
    }
    const disable = (stores: Stores) =>
      storeDisabled(stores.credentials(), 'client_1', systemTime.now(), systemTime.now())
    const consume = (withdrawal: string) =>
      withStores((stores) => stores.quotes().operator.consume(aWithdrawal({ id, withdrawal })))
    const issued = await withStores((stores) =>
      stores.quotes().customers.issue(acme, aQuote({ id }), 1000),
    )
    assert.ok(issued.outcome === 'stored')
    await run('backup', [backupOf('recovering.tar')], url)
    await withStores(disable)
    assert.equal((await consume('payout-7')).outcome, 'consumed')

    await run('restore', [backupOf('recovering.tar'), '--replace'], url)
    assert.equal((await consume('payout-8')).outcome, 'unreconciled')
    const shown = JSON.parse((await run('reconcile', ['--json'], url)).out)
    assert.deepEqual(
      [shown.in_recovery, shown.clients_confirmed_at, shown.live_clients.length],
      [true, null, 1],
    )
    assert.equal(shown.live_clients[0].client_id, 'client_1')
    assert.ok(shown.uncertain_fees.some((one: { id: string }) => one.id === id))
    const lines = (await run('reconcile', [], url)).out
    assert.match(lines, /^The store is in recovery: it was restored to \d{4}-/)
    assert.match(lines, /\n {2}client_1 {2}acme {2}\d{4}-\S+ {2}treasury\n/)
    assert.match(lines, new RegExp(`\\n {2}${id} {2}acme {2}expires `))

    await withStores(disable)
    for (const words of [['--clients-confirmed'], ['--reconciled']]) {
      await assert.rejects(run('reconcile', words, url), /run `.* reconcile --erasures FILE` with/)
    }
    const repeated = await run('reconcile', ['--erasures', '/dev/null', '--yes', '--json'], url)
    assert.match(JSON.parse(repeated.out).erasures_repeated_at, /^\d{4}-/)
    const confirmed = JSON.parse(
      (await run('reconcile', ['--clients-confirmed', '--json'], url)).out,
    )
    assert.deepEqual([confirmed.in_recovery, confirmed.live_clients], [true, []])
    assert.match(confirmed.clients_confirmed_at, /^\d{4}-/)
    const words = [
      '--customer',
      'acme',
      '--asset',
      'USDC',
      '--network',
      'ETHEREUM',
      '--amount',
      '100',
    ]
    const consumedAt = [
      '--consumed-at',
      new Date(Number(issued.createdAt / 1000n) + 1).toISOString(),
    ]
    const payout = ['consume', id, ...words, '--address', wallet, '--withdrawal']
    await assert.rejects(run('fee', [...payout, 'payout-8'], url), {
      name: 'CommandFailed',
      message: /then run `npm run -s bursar -- reconcile --reconciled` \{"restored_at":/,
    })
    const { out } = await run('fee', [...payout, 'payout-7', ...consumedAt, '--json'], url)
    assert.equal(JSON.parse(out).consumed_at, consumedAt[1])
    const ended = JSON.parse((await run('reconcile', ['--reconciled', '--json'], url)).out)
    assert.deepEqual([ended.in_recovery, ended.uncertain_fees], [false, []])
    assert.equal((await consume('payout-8')).outcome, 'taken')
    await assert.rejects(run('reconcile', ['--reconciled'], url), {
      message: 'the store is not in recovery, so there is nothing to confirm',
    })
    assert.match((await run('reconcile', [], url)).out, / and reconciled at \d{4}-/)
  })

  test('refuses a store that another process uses, and changes nothing', async () => {
    const content = await contentOf('live')
    await assert.rejects(run('restore', [backupOf('good.tar'), '--replace'], urlOf('live')), {
      message: `another process uses the store at ${pathOf('live')}; stop it and restore again. Nothing was changed.`,
    })
    assert.deepEqual(await contentOf('live'), content)
    assert.deepEqual(
      readdirSync(dirname(pathOf('live'))).filter((name) => /restoring|backup/.test(name)),
      [],
    )
  })

  test('that was interrupted keeps the store closed until it is repeated', async () => {
    copyOfLive('half')
    const second = join(folder, 'half', 'bursar.credentials.db')
    rmSync(second)
    // The second rename fails: the records are those of the backup, the credentials are missing.
    mkdirSync(join(second, 'in the way'), { recursive: true })
    await assert.rejects(run('restore', [backupOf('good.tar'), '--replace'], urlOf('half')))
    rmSync(second, { recursive: true })
    await assert.rejects(contentOf('half'), {
      name: 'ConfigError',
      message: `${pathOf('half')} is being restored, or its restore was interrupted. If no restore is running, run \`bursar restore FILE --replace\` again.`,
    })
    await run('restore', [backupOf('good.tar'), '--replace'], urlOf('half'))
    assert.deepEqual(await contentOf('half'), await contentOf('live'))
  })

  test('replaces a damaged store and drops its WAL', async () => {
    mkdirSync(join(folder, 'broken'))
    for (const ending of ['db', 'db-wal', 'credentials.db', 'credentials.db-wal']) {
      writeFileSync(join(folder, 'broken', `bursar.${ending}`), 'no database')
    }
    await run('restore', [backupOf('good.tar'), '--replace'], urlOf('broken'))
    copyFileSync(keyFileOf('live'), keyFileOf('broken'))
    assert.deepEqual(await contentOf('broken'), await contentOf('live'))
  })

  test('refuses a backup with a damaged record unless that is accepted, and names the record', async () => {
    copyOfLive('flawed')
    const opened = await openStores('flawed')
    const other = aFiatAccount({ id: anId(78), ref_id: 'r78' })
    await take(opened.records(), 'fiat-accounts', [other])
    await opened.close()
    // SQLite's own check compares no checksum of a record.
    const db = new DatabaseSync(pathOf('flawed'))
    db.exec(`update fiat_account_full set ${flipped('body')} where id = '${anId(78)}'`)
    db.close()
    await run('backup', [backupOf('flawed.tar')], urlOf('flawed'))
    const fault = `fiat-accounts ${anId(78)}: its full body was changed, or belongs to`
    // Sealed records are opened only where their key is.
    const { told: unopened } = await run('restore', [backupOf('flawed.tar')], urlOf('keyless'))
    assert.match(unopened, /sealed records were not opened; once the master key is in place, run/)
    mkdirSync(dirname(pathOf('flawless')), { recursive: true })
    copyFileSync(keyFileOf('live'), keyFileOf('flawless'))
    await assert.rejects(run('restore', [backupOf('flawed.tar')], urlOf('flawless')), (error) => {
      assert.ok(error instanceof Error && error.name === 'CommandFailed')
      assert.match(error.message, /^the backup is damaged, so nothing was restored; /)
      assert.ok(error.message.includes(`\n${fault}`), error.message)
      assert.ok(!error.message.includes('r78'), error.message)
      return true
    })
    assert.equal(existsSync(pathOf('flawless')), false)
    const words = [backupOf('flawed.tar'), '--accept-damaged-records']
    const { out, told } = await run('restore', [...words, '--json'], urlOf('flawless'))
    assert.equal(JSON.parse(out).damaged_record_count, 1)
    assert.ok(JSON.parse(out).damaged_records[0].startsWith(fault), out)
    assert.match(told, /^the backup has 1 damaged record, /)
    const restored = await openStores('flawless')
    await take(restored.records(), 'fiat-accounts', [other], { allowOlder: true })
    const lines = restored.records().operator.exportLines(fiatAccount.full.resource, undefined)
    assert.equal((await Array.fromAsync(lines)).length, 2)
    await restored.close()
  })

  /** The files of the good backup, as a person unpacks them. */
  async function unpacked(name: string): Promise<string> {
    const to = join(folder, name, 'backup')
    mkdirSync(to, { recursive: true })
    await extract({ file: backupOf('good.tar'), cwd: to })
    return to
  }

  test('takes a backup that a person has unpacked and packed again', async () => {
    const content = await contentOf('live')
    const files = await unpacked('repacked')
    const around = dirname(files)
    for (const name of ['._manifest.json', 'notes.txt', '.DS_Store']) {
      writeFileSync(join(files, name), 'of a person')
    }
    const reversed = ['bursar.credentials.db', 'bursar.db', 'manifest.json']
    // Longer than a header of tar holds, so the paths stand in PAX headers.
    const long = join('a'.repeat(120), 'b'.repeat(120))
    const packed = async (options: object, names: readonly string[]) => {
      const file = join(folder, 'repacked.tar')
      await create({ file, cwd: files, ...options }, [...names])
      return readFileSync(file)
    }
    const plain = await packed({}, ['.'])
    const cases: readonly (readonly [string, Uint8Array])[] = [
      ['of ./', plain],
      ['in a folder', await packed({ cwd: around }, ['backup'])],
      ['in long folders', await packed({ prefix: long }, reversed)],
      ['in another order', await packed({}, reversed)],
      ['compressed', gzipSync(plain)],
      ['compressed twice', gzipSync(gzipSync(plain))],
      ['compressed with zstd', zstdCompressSync(plain)],
    ]
    for (const [what, bytes] of cases) {
      const file = backupOf(`${what.replaceAll(/\W/g, '-')}.backup`)
      writeFileSync(file, bytes)
      await run('restore', [file, '--replace'], urlOf('from-repacked'))
      copyFileSync(keyFileOf('live'), keyFileOf('from-repacked'))
      assert.deepEqual(await contentOf('from-repacked'), content, what)
    }
  })

  test('refuses what is no whole backup and makes no store', async () => {
    const good = readFileSync(backupOf('good.tar'))
    const flipped = Buffer.from(good)
    const at = flipped.lastIndexOf('treasury')
    assert.ok(at > 0)
    flipped[at] = 0x54
    const foreign = join(folder, 'foreign')
    mkdirSync(foreign)
    writeFileSync(join(foreign, 'manifest.json'), '{"format":"bursar-backup-2"}')
    writeFileSync(join(foreign, 'bursar.db'), '')
    await create({ file: backupOf('foreign.tar'), cwd: foreign }, ['manifest.json', 'bursar.db'])
    await create({ file: backupOf('other.tar'), cwd: foreign }, ['bursar.db'])
    const files = await unpacked('twice')
    const copy = await unpacked(join('twice', 'backup', 'copy'))
    await create({ file: backupOf('two.tar'), cwd: files }, ['.'])
    const names = ['manifest.json', 'bursar.db', 'bursar.credentials.db']
    await create({ file: backupOf('again.tar'), cwd: files }, [...names, 'bursar.db'])
    const [above, absolute] = [backupOf('above.tar'), backupOf('absolute.tar')]
    await create({ file: above, cwd: copy, preservePaths: true }, ['../../bursar.db'])
    const rooted = { file: absolute, cwd: files, preservePaths: true, prefix: '/' }
    await create(rooted, names)
    writeFileSync(join(copy, 'manifest.json'), ' '.repeat(70_000))
    await create({ file: backupOf('vast.tar'), cwd: copy }, ['.'])
    await create({ file: backupOf('links.tar'), cwd: files }, ['manifest.json', 'bursar.db'])
    const zeros = gzipSync(Buffer.alloc(2_000_000))
    mkdirSync(backupOf('folder.tar'))
    const cases: readonly [string, Uint8Array | undefined, RegExp][] = [
      ['two.tar', undefined, /it has more than one manifest\.json$/],
      ['again.tar', undefined, /it has bursar\.db twice$/],
      ['above.tar', undefined, /a path in it leads out of its folder$/],
      ['absolute.tar', undefined, /a path in it leads out of its folder$/],
      ['vast.tar', undefined, /its manifest\.json is not one that this version knows$/],
      ['links.tar', undefined, /it has no bursar\.credentials\.db$/],
      ['folder.tar', undefined, /it is a folder; pack manifest\.json and the databases with tar$/],
      ['bursar.zip', Buffer.from('PK\x03\x04'), /it is a zip archive; pack/],
      ['bursar.db', readFileSync(join(files, 'bursar.db')), /it is a database of SQLite; pack/],
      ['thrice.tar', gzipSync(gzipSync(gzipSync(good))), /it is compressed too often; pack/],
      ['bomb.tar', gzipSync(zeros), /it has more than 1000 times its size in it$/],
      ['half.tar.gz', gzipSync(good).subarray(0, 5000), /unexpected end of file/],
      ['text.tar', Buffer.from('no archive at all'), /TAR_|archive|manifest/],
      ['empty.tar', Buffer.alloc(0), /it has no manifest\.json|archive/],
      ['cut.tar', good.subarray(0, good.length / 2), /truncated|Truncated|differs|has no/i],
      ['flipped.tar', flipped, /bursar\.credentials\.db differs from what was written$/],
      ['foreign.tar', undefined, /its manifest\.json is not one that this version knows$/],
      ['other.tar', undefined, /it has no manifest\.json$/],
    ]
    for (const [name, bytes, why] of cases) {
      if (bytes !== undefined) writeFileSync(backupOf(name), bytes)
      const error: unknown = await run('restore', [backupOf(name)], urlOf('untouched')).then(
        () => undefined,
        (rejected: unknown) => rejected,
      )
      assert.ok(error instanceof Error, name)
      assert.equal(error.name, 'CommandFailed', `${name}: ${error.stack}`)
      assert.ok(
        error.message.startsWith(`${backupOf(name)} is not a backup of Bursar`),
        error.message,
      )
      assert.match(error.message, why, name)
      assert.equal(existsSync(pathOf('untouched')), false, name)
    }
  })
})
