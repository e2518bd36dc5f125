import { DatabaseSync } from 'node:sqlite'
import { limitNamed } from '@bursar/base'
import { asTenant } from '@bursar/contract'
import { positionOf, rangeOf } from '@bursar/records'
import { fiatAccount } from '../../packages/contract/src/resources/fiat-account.ts'
import { readPage } from '../../packages/sqlite/src/records/customer-records.ts'
import { pageQuery } from '../../packages/sqlite/src/records/page-query.ts'
import { firstPage } from '../../test/support/selection.ts'
import { BIG, customerOf, idOf, microsOf } from '../world.ts'

/**
 * Reads random pages of the big customer as the service does, without HTTP. Prints pages a
 * second. Usage: sqlite-pages.ts FILE RECORDS LIMIT SECONDS
 */
const [file = '', records, limit, seconds] = process.argv.slice(2)
const db = new DatabaseSync(file)
db.exec(`pragma cache_size = ${-limitNamed('storeCacheBytes') / 1024}`)
const selection = { ...firstPage, limit: Number(limit) }
const { sql, ...query } = pageQuery(fiatAccount.resource, selection)
const statement = db.prepare(sql)
const deadline = performance.now() + Number(seconds) * 1000
const startedAt = performance.now()
let pages = 0
while (performance.now() < deadline) {
  const at = Math.floor(Math.random() * Number(records))
  if (customerOf(at) !== BIG || at < Number(limit) * 1.2) continue
  const after = positionOf(microsOf(at), idOf(at))
  const range = rangeOf({ ...selection, after })
  readPage(statement, { customer: asTenant(BIG), selection, range, ...query }).release?.()
  pages += 1
}
process.stdout.write(`${(pages * 1000) / (performance.now() - startedAt)}\n`)
