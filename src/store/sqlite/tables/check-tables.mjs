import { DatabaseSync } from 'node:sqlite'
import { parentPort, workerData } from 'node:worker_threads'

/**
 * A thread of its own, because a check of a large table takes seconds. Each table is one statement,
 * so no read transaction lasts for all of them. It is JavaScript, as it is started from its file.
 */
const { path, tables } = workerData
const db = new DatabaseSync(path, { readOnly: true, timeout: 0 })
try {
  for (const table of tables) {
    const fault = faultOf(table)
    if (fault !== undefined) parentPort?.postMessage({ table, fault })
  }
} finally {
  db.close()
}

/** @param {string} table */
function faultOf(table) {
  try {
    const line = db.prepare(`pragma integrity_check('${table}')`).get()?.integrity_check
    return line === 'ok' ? undefined : String(line).split('\n')[0]
  } catch (error) {
    // SQLITE_CORRUPT and SQLITE_NOTADB. Any other error says nothing about the table.
    const code = error.errcode & 0xff
    if (code === 11 || code === 26) return error.message
    throw error
  }
}
