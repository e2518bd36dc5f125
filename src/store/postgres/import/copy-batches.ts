import type { Connection } from '../driver/connection.ts'
import { guarded } from '../driver/failure.ts'

/** About a millisecond of COPY. Larger batches are not faster. */
const BATCH_CHARACTERS = 1024 * 1024

/**
 * Copies lines in batches, each with a COPY of its own. One COPY for the whole input would keep its
 * snapshot while the input is awaited, and VACUUM could not remove rows that were deleted since.
 */
export function openCopy(connection: Connection, statement: string) {
  let batch = ''
  let copying = Promise.resolve()
  const flush = async () => {
    if (batch === '') return await copying
    const full = batch
    batch = ''
    await copying
    copying = guarded(() => copyBatch(connection, statement, full))
    // The next flush or the end reports the failure.
    copying.catch(() => {})
  }
  return {
    /** Returns a promise when the server cannot keep up. */
    write: (line: string): Promise<void> | undefined => {
      batch += line
      return batch.length < BATCH_CHARACTERS ? undefined : flush()
    },
    end: async () => {
      await flush()
      await copying
    },
  }
}

async function copyBatch(connection: Connection, statement: string, lines: string): Promise<void> {
  const stream = await connection.copyIn(statement)
  await new Promise<void>((resolve, reject) => {
    stream.once('error', reject)
    // The library sends a last message when it closes the stream, so the next COPY waits for that.
    stream.once('close', resolve)
    stream.end(lines)
  })
}
