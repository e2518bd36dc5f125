import { pipeline } from 'node:stream/promises'
import type { Staging } from '../../session.ts'
import type { Spool } from '../../spool.ts'
import type { Connection } from '../driver/connection.ts'

/** Copies the lines of a spool into a staging table of the transaction that runs. */
export async function copySpool(
  connection: Connection,
  { staging, spool }: { readonly staging: Staging; readonly spool: Spool },
): Promise<void> {
  if (spool.isEmpty()) return
  const columns = Object.keys(staging.columns).join(', ')
  const stream = await connection.copyIn(`copy ${staging.table} (${columns}) from stdin`)
  // The library sends a last message when it closes the stream, and the next statement after it.
  const closed = new Promise<void>((resolve) => {
    stream.once('close', resolve)
  })
  await pipeline(spool.read(), stream)
  await closed
}
