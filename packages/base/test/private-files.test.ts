import assert from 'node:assert/strict'
import {
  chmodSync,
  chownSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { after, describe, test } from 'node:test'
import { createStore, openServiceStores } from '@bursar/server/stores'
import { configOf, temporaryFolder } from '../../../test/support/harness.ts'
import { openHeads } from '../../records/src/audit/report-audit.ts'
import { ConfigError } from '../src/config.ts'
import { type Logger, openLog } from '../src/log.ts'
import { systemTime } from '../src/time.ts'

const folder = temporaryFolder()
after(() => rmSync(folder, { recursive: true, force: true }))

/** Opens every part of an embedded store, as a server does, and closes it again. */
async function openAt(path: string, whileOpen = () => {}): Promise<readonly string[]> {
  const config = configOf({ DATABASE_URL: `sqlite:${path}` })
  const warned: string[] = []
  const warn = (...words: readonly unknown[]) => void warned.push(JSON.stringify(words))
  const log: Logger = { ...openLog('silent'), warn }
  const sources = { config, clock: systemTime.now, log }
  await createStore(sources)
  const stores = await openServiceStores(sources)
  try {
    stores.records()
    stores.quotes()
    await stores.keyring(stores.credentials())
    whileOpen()
  } finally {
    await stores.close()
  }
  return warned
}

const modeOf = (path: string): string => (statSync(path).mode & 0o7777).toString(8)

const refusal = (message: RegExp) => (error: unknown) => {
  assert.ok(error instanceof ConfigError, String(error))
  assert.match(error.message, message)
  return true
}

describe('the files of an embedded store', { skip: process.platform === 'win32' }, () => {
  test('are created for their owner only, and so are their folders', async () => {
    const umask = process.umask(0)
    try {
      await openAt(join(folder, 'a/b/bursar.db'), () => {
        const files = readdirSync(join(folder, 'a/b'))
        for (const file of files) assert.equal(modeOf(join(folder, 'a/b', file)), '600', file)
        for (const name of ['db', 'credentials.db', 'server-lock']) {
          assert.ok(files.includes(`bursar.${name}`), name)
        }
        assert.ok(files.includes('bursar.db-wal') && files.includes('bursar.master-key'))
      })
    } finally {
      process.umask(umask)
    }
    assert.deepEqual([modeOf(join(folder, 'a')), modeOf(join(folder, 'a/b'))], ['700', '700'])
  })

  /** What a kubelet does to a volume with `fsGroup` at each mount. */
  function mount(path: string): void {
    const stats = lstatSync(path)
    if (stats.isSymbolicLink()) return
    chmodSync(path, (stats.mode & 0o7777) | (stats.isDirectory() ? 0o2770 : 0o660))
    if (stats.isDirectory()) for (const name of readdirSync(path)) mount(join(path, name))
  }

  test('are closed again at each start after a mount with fsGroup, which is said once', async () => {
    const volume = join(folder, 'volume')
    const path = join(volume, 'store/bursar.db')
    await openAt(path)
    for (const name of ['db-wal', 'import-3.lock', 'backed-up']) {
      writeFileSync(path.replace(/db$/, name), '')
    }
    writeFileSync(join(volume, 'store/notes.txt'), '', { mode: 0o600 })
    for (const restart of [1, 2]) {
      mount(volume)
      const warned = await openAt(path, () => {
        const names = readdirSync(dirname(path))
        assert.ok(names.length >= 9, names.join(' '))
        for (const name of names) {
          const mode = name === 'notes.txt' ? '660' : '600'
          assert.equal(modeOf(join(dirname(path), name)), mode, `${name}, restart ${restart}`)
        }
      })
      assert.equal(modeOf(dirname(path)), '2750')
      const [files = '', key = '', ...others] = warned
      assert.match(files, /"files":\[.*bursar\.credentials\.db".*other users had rights on files/)
      assert.match(
        key,
        /could read the master key in .*master-key; .* renew it with .*rotate-master/,
      )
      assert.deepEqual([...others, ...(await openAt(path))], [])
    }
    chmodSync(path.replace(/db$/, 'master-key'), 0o622)
    assert.equal((await openAt(path)).length, 1, 'a master key that nobody could read')
  })

  test('are refused, each by its name, if others may use a link, a second name or a foreign file', async () => {
    const path = join(folder, 'open/bursar.db')
    await openAt(path)
    const names = ['db', 'db-wal', 'db-shm', 'credentials.db', 'credentials.db-wal']
    const away = join(folder, 'away')
    const changes: readonly ((file: string) => void)[] = [
      (file) => {
        renameSync(file, away)
        symlinkSync(away, file)
      },
      (file) => linkSync(file, away),
      // Only root can give a file to another user.
      ...(process.getuid?.() === 0 ? [(file: string) => chownSync(file, 12_345, -1)] : []),
    ]
    for (const name of [...names, 'server-lock', 'master-key']) {
      const file = path.replace(/db$/, name)
      for (const [at, change] of changes.entries()) {
        const content = existsSync(file) ? readFileSync(file) : undefined
        if (content === undefined) writeFileSync(file, '')
        change(file)
        for (const mode of [0o640, 0o604, 0o620]) {
          chmodSync(file, mode)
          await assert.rejects(
            openAt(path),
            refusal(
              new RegExp(`${file} .*other users can read or write it. Run .chmod 600 ${file}`),
            ),
            `${file}, change ${at}`,
          )
          assert.equal(statSync(file).mode & 0o777, mode)
        }
        rmSync(file)
        rmSync(away, { force: true })
        if (content !== undefined) writeFileSync(file, content, { mode: 0o600 })
      }
    }
    await openAt(path)
  })

  test('take the right to write from others in their folder, but not in a sticky or foreign one', async () => {
    const shared = join(folder, 'shared')
    mkdirSync(shared)
    chmodSync(shared, 0o777)
    const open = () => openAt(join(shared, 'bursar.db'))
    await assert.rejects(open(), refusal(/^Every user can replace files/), 'a new store')
    chmodSync(shared, 0o755)
    await open()
    chmodSync(shared, 0o777)
    assert.equal((await open()).length, 1)
    assert.equal(modeOf(shared), '755')
    symlinkSync(shared, join(folder, 'linked'))
    chmodSync(shared, 0o777)
    const linked = join(folder, 'linked/bursar.db')
    await assert.rejects(openAt(linked), refusal(/^Every user can replace files/))
    chmodSync(shared, 0o1777)
    assert.deepEqual(await open(), [])
    assert.equal(modeOf(shared), '1777')
  })

  test('include the file of audit heads', async () => {
    const heads = join(folder, 'heads.ndjson')
    const log = { ...openLog('silent'), warn: () => {} }
    for (const mode of ['missing', 0o660]) {
      if (mode !== 'missing') chmodSync(heads, mode)
      openHeads({ log, headsFile: heads })
      assert.equal(modeOf(heads), '600')
    }
  })

  test('leave a file that a wrong path names as it is', async () => {
    const other = join(folder, 'other.txt')
    writeFileSync(other, 'of another program')
    chmodSync(other, 0o644)
    await assert.rejects(openAt(other), refusal(/other users can read or write it/))
    assert.equal(modeOf(other), '644')
  })

  test('are refused at a path that cannot be used, without a search that never ends', async () => {
    writeFileSync(join(folder, 'file'), '')
    symlinkSync(join(folder, 'nowhere'), join(folder, 'dangling'))
    for (const [path, named] of [
      ['/proc/x/b.db', '/proc/x cannot be used for the store \\(ENOENT\\)'],
      ['/proc/x/y/z/b.db', '/proc/x cannot be used'],
      [join(folder, 'file/b.db'), 'file/b.db cannot be used for the store \\(ENOTDIR\\)'],
      [join(folder, 'file/x/b.db'), 'file/x cannot be used'],
      [join(folder, 'dangling/x/b.db'), 'dangling cannot be used'],
      [join(folder, 'x'.repeat(300)), 'x cannot be used for the store \\(ENAMETOOLONG\\)'],
      [folder, `${folder} cannot be used for the store \\(it is not a file\\)`],
    ] as const) {
      await assert.rejects(openAt(path), refusal(new RegExp(`${named}.*Choose another path`)))
    }
  })
})
