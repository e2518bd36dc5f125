import { limits } from '../../../platform/limits.ts'
import { resources } from '../../../resources/catalogue.ts'
import type { PutTransactions } from '../../merge/put-queue.ts'
import { createStaging, indexStaged, stagingOfAll } from '../../merge/staging.ts'
import { openFurther } from '../database.ts'
import { dialect } from '../dialect.ts'
import { openTransactions } from '../locks.ts'

type PutConnection = PutTransactions & { close(): void }

/** Transactions of single records. Their connection serves nothing else, and opens when needed. */
export function openPutConnection(path: string): PutConnection {
  let opened: ReturnType<typeof openConnection> | undefined
  return {
    dialect,
    waitMs: limits.recordPutMs,
    transact: (_resource, work, deadline) => {
      opened ??= openConnection(path)
      return opened.transact(async (session) => {
        const result = await work(session)
        await session.rows({ text: 'delete from staged' })
        await session.rows({ text: 'delete from staged_origin' })
        return result
      }, deadline)
    },
    close: () => opened?.db.close(),
  }
}

function openConnection(path: string) {
  const db = openFurther(path)
  // The staging table holds one batch, so it needs no disk.
  db.exec('pragma temp_store = memory')
  // Records lie all over the file, so a short log would be copied to it after every commit.
  db.exec(`pragma wal_autocheckpoint = ${limits.putLogPages}`)
  db.exec(`${createStaging(stagingOfAll(resources, dialect))}; ${indexStaged}`)
  return { db, transact: openTransactions(db) }
}
