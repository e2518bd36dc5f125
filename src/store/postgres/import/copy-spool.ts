import { pipeline } from 'node:stream/promises'
import type { Spool } from '../../spool.ts'
import type { Connection } from '../driver/connection.ts'

/** Copies the lines of a spool into a table of the transaction that runs. */
export async function copySpool(
  connection: Connection,
  table: string,
  columns: readonly string[],
  spool: Spool,
): Promise<void> {
  if (spool.isEmpty()) return
  const stream = await connection.copyIn(`copy ${table} (${columns.join(', ')}) from stdin`)
  // The library sends a last message when it closes the stream, and the next statement after it.
  const closed = new Promise<void>((resolve) => {
    stream.once('close', resolve)
  })
  await pipeline(spool.read(), stream)
  await closed
}
