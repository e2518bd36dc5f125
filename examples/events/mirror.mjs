// Keeps a copy of a customer's records in a file. End it at any time; it goes on where it stopped.
import { DatabaseSync } from 'node:sqlite'
import { createBursar, GoneError } from 'bursar-client'

const { BURSAR_URL, CLIENT_ID, CLIENT_SECRET, CUSTOMER_ID, MIRROR_FILE } = process.env
const bursar = createBursar({
  baseUrl: BURSAR_URL,
  clientId: CLIENT_ID,
  clientSecret: CLIENT_SECRET,
})
const lists = {
  'fiat-accounts': bursar.fiatAccounts.list,
  'fiat-deposit-instructions': bursar.fiatDepositInstructions.list,
  'deposit-addresses': bursar.depositAddresses.list,
  statements: ({ ids, ...query }) =>
    bursar.statements.list({ customer_id: CUSTOMER_ID, statement_ids: ids, ...query }),
  'issuer-quote-executions': bursar.issuerQuotes.list,
}

const db = new DatabaseSync(MIRROR_FILE, { timeout: 10_000 })
db.exec('pragma journal_mode = wal')
db.exec('create table if not exists records (kind, id, body, primary key (kind, id))')
db.exec('create table if not exists place (one primary key check (one = 1), cursor)')
const remove = db.prepare('delete from records where kind = ? and id = ?')
const upsert = db.prepare('insert or replace into records values (?, ?, ?)')
const moveTo = db.prepare('insert or replace into place values (1, ?)')

// The events may begin after the oldest records. The cursor is read before the lists, so no change is missed.
async function readLists() {
  const newest = bursar.events.list({ order: 'DESC', limit: 1 }).pages()
  const { value } = await newest[Symbol.asyncIterator]().next()
  db.exec('begin; delete from records')
  for (const [kind, list] of Object.entries(lists)) {
    for await (const each of list({ limit: 1000 })) upsert.run(kind, each.id, JSON.stringify(each))
  }
  moveTo.run(value.resumeCursor)
  db.exec('commit')
}

async function follow() {
  const { cursor: stored } = db.prepare('select cursor from place').get()
  for await (const { event, cursor } of bursar.events.follow({ cursor: stored })) {
    const { kind, id } = event.object
    // What the event deleted is absent at its time. A consumed fee is no record of a list.
    const read = lists[kind]?.({ ids: [id], as_of: event.as_of }).toArray({ max: 1 })
    const [record] = (await read) ?? []
    db.exec('begin')
    if (record === undefined) remove.run(kind, id)
    else upsert.run(kind, id, JSON.stringify(record))
    moveTo.run(cursor)
    db.exec('commit')
  }
}

for (;;) {
  if (db.prepare('select 1 from place').get() === undefined) await readLists()
  try {
    await follow()
  } catch (error) {
    if (!(error instanceof GoneError)) throw error
    db.exec('delete from place')
  }
}
