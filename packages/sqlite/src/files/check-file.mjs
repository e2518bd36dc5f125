import { DatabaseSync } from 'node:sqlite'
import { parentPort, workerData } from 'node:worker_threads'

/**
 * A thread of its own, because a check of a large table takes seconds. Each table is one statement,
 * so no read transaction lasts for all of them. It is JavaScript, as it is started from its file.
 */
parentPort?.postMessage(firstFault(workerData.path))

/** @param {string} path */
function firstFault(path) {
  try {
    using db = new DatabaseSync(path, { readOnly: true, timeout: 0 })
    for (const { name } of db
      .prepare(`select name from sqlite_schema where type = 'table'`)
      .all()) {
      const line = db.prepare(`pragma integrity_check('${name}')`).get()?.integrity_check
      if (line !== 'ok') return String(line).split('\n')[0]
    }
    return undefined
  } catch (error) {
    // SQLITE_CORRUPT and SQLITE_NOTADB. Any other error says nothing about the file.
    const code = error.errcode & 0xff
    if (code === 11 || code === 26) return error.message
    throw error
  }
}
