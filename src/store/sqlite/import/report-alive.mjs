import { DatabaseSync } from 'node:sqlite'
import { workerData } from 'node:worker_threads'

/**
 * Writes that an import runs, in a thread: a merge holds the process that runs it for as long as
 * SQLite takes. It is JavaScript, as it is started from its file.
 */
const { url, id, everyMs } = workerData
const db = new DatabaseSync(new URL(url), { timeout: everyMs })
db.exec('pragma synchronous = normal')
const report = db.prepare(
  'update import_registry set updated_at = ? where id = ? and ended_at is null',
)
setInterval(() => {
  try {
    report.run(BigInt(Date.now()) * 1000n, id)
  } catch {
    // The registry is for watching. The next write may succeed.
  }
}, everyMs)
