import { DatabaseSync } from 'node:sqlite'
import { parentPort, workerData } from 'node:worker_threads'

/**
 * A connection in a thread of its own: a commit waits for the disk, and now and then copies the log
 * into the database. It is JavaScript, as it is started from its file.
 */
const { url, setup } = workerData
const db = new DatabaseSync(new URL(url), { timeout: 0 })
db.exec(setup)
const statements = new Map()
/** The first failure of a transaction. */
let failure
/** The time of the transaction. */
let now = 0n
db.function('clock_microseconds', () => now)

const calls = {
  begin: (_text, _values, at) => {
    failure = undefined
    now = at
    db.exec('begin immediate')
  },
  commit: () => db.exec('commit'),
  rollback: () => {
    if (db.isTransaction) db.exec('rollback')
  },
  emptyLog: () => {
    if (!db.isTransaction) db.exec('pragma wal_checkpoint(truncate)')
  },
  run: (text) => db.exec(text),
  rows: (text, values) => statementOf(text).all(...values),
  stage: (text, rows) => {
    const insert = statementOf(text)
    for (const row of rows) insert.run(...row)
  },
}

parentPort?.on('message', (message) => {
  if (message !== 'close') return parentPort?.postMessage(message.map(answerTo))
  db.close()
  parentPort?.close()
})

/** Calls that a failure of the transaction does not refuse. */
const runsAnyway = new Set(['begin', 'rollback', 'emptyLog'])

function answerTo({ does, text, values, at }) {
  try {
    // An error of the disk ends the transaction, and a further statement would commit by itself.
    if (failure !== undefined && !runsAnyway.has(does)) throw failure
    return { result: calls[does](text, values, at) }
  } catch (error) {
    failure ??= error
    return { failure: { message: error.message, errcode: error.errcode } }
  }
}

/** @param {string} text */
function statementOf(text) {
  const known = statements.get(text)
  if (known !== undefined) return known
  const statement = db.prepare(text.replaceAll(/\$(\d+)/g, '?$1'))
  statement.setReadBigInts(true)
  statements.set(text, statement)
  return statement
}
