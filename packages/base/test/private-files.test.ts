import assert from 'node:assert/strict'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { createStore, openServiceStores } from '@bursar/server/stores'
import { configOf, temporaryFolder } from '../../../test/support/harness.ts'
import { ConfigError } from '../src/config.ts'
import { openLog } from '../src/log.ts'
import { systemTime } from '../src/time.ts'

const folder = temporaryFolder()
after(() => rmSync(folder, { recursive: true, force: true }))

/** Opens every part of an embedded store, as a server does, and closes it again. */
async function openAt(path: string, whileOpen = () => {}): Promise<void> {
  const config = configOf({ DATABASE_URL: `sqlite:${path}` })
  const sources = { config, clock: systemTime.now, log: openLog('silent') }
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

  test('are refused, each by its name, if others may read or write them', async () => {
    const path = join(folder, 'open/bursar.db')
    await openAt(path)
    const names = ['db', 'db-wal', 'db-shm', 'credentials.db', 'credentials.db-wal']
    for (const name of [...names, 'server-lock', 'master-key']) {
      const file = path.replace(/db$/, name)
      const existed = existsSync(file)
      if (!existed) writeFileSync(file, '')
      for (const mode of [0o640, 0o604, 0o620]) {
        chmodSync(file, mode)
        await assert.rejects(
          openAt(path),
          refusal(new RegExp(`${file} .*other users can read or write it. Run .chmod 600 ${file}`)),
        )
      }
      if (existed) chmodSync(file, 0o600)
      else rmSync(file)
    }
    await openAt(path)
  })

  test('are refused in a folder where every user can replace them, but not in a sticky one', async () => {
    const shared = join(folder, 'shared')
    mkdirSync(shared)
    chmodSync(shared, 0o777)
    await assert.rejects(
      openAt(join(shared, 'bursar.db')),
      refusal(/^Every user can replace files/),
    )
    chmodSync(shared, 0o1777)
    await openAt(join(shared, 'bursar.db'))
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
