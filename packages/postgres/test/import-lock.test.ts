import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openTestServers, operatorUrl } from '../../../test/support/store-place.ts'
import { openTestDatabase } from '../../../test/support/test-database.ts'
import { untilHolds } from '../../../test/support/until.ts'
import { dialect } from '../src/dialect.ts'
import { openImportLock } from '../src/import/import-lock.ts'

test('the lock of imports is held again after its session was ended, and free after its release', async (t) => {
  const database = await openTestDatabase()
  t.after(database.drop)
  const servers = await openTestServers(operatorUrl(database.url))
  t.after(servers.close)
  const lock = openImportLock(servers)
  const number = await lock.hold()
  assert.equal(await lock.hold(), number)
  const isHeld = async () =>
    (await database.ask(`select ${dialect.isImportLockHeld(`${number}::bigint`)}`))[0]?.[0] === 't'
  assert.equal(await isHeld(), true)
  const holder = `select pid from pg_locks where locktype = 'advisory' and database = (
    select oid from pg_database where datname = current_database())`
  const [[pid] = []] = await database.ask(holder)
  await database.ask(`select pg_terminate_backend(${pid})`)
  await untilHolds('another session holds it', async () => {
    const [[other] = []] = await database.ask(holder)
    return other !== undefined && other !== pid && (await isHeld())
  })
  // Of a transaction that reads nothing, so that it keeps no row from VACUUM.
  const [[kept] = []] = await database.ask(
    `select count(*) from pg_stat_activity where pid in (${holder})
       and (backend_xmin is not null or backend_xid is not null)`,
  )
  assert.equal(kept, '0')
  lock.release()
  await untilHolds('it is free', async () => !(await isHeld()))
  assert.notEqual(await lock.hold(), number)
  lock.release()
})
