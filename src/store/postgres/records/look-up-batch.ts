import { limits } from '../../../platform/limits.ts'
import { openBatchQueue, type PendingRequest } from '../../batch-queue.ts'
import type { Statement } from '../../session.ts'
import type { Servers } from '../cluster/servers.ts'
import type { Row } from '../driver/connection.ts'
import { aloneIfDamaged } from './alone-if-damaged.ts'

type LookUps<Asked, Found> = {
  /** What is looked up, in the plural, for the error messages. */
  readonly name: string
  /** Its rows begin with the number of the look-up in the batch, from 1. */
  readonly queryOf: (batch: readonly Asked[]) => Statement
  readonly read: (row: Row) => Found
  /** The result of a look-up without a row. */
  readonly absent: Found
}

/** Looks up single rows, several in one statement. */
export function openLookUps<Asked, Found>(
  servers: Servers,
  { name, queryOf, read, absent }: LookUps<Asked, Found>,
): (asked: Asked) => Promise<Found> {
  const readTogether = async (batch: readonly PendingRequest<Asked, Found>[], askedAt: number) => {
    const query = queryOf(batch.map(({ request }) => request))
    // The first look-up has waited longest, so its start time bounds the whole batch.
    const rows = await servers.read((connection) => connection.query(query), { askedAt })
    for (const row of rows) batch[Number(row[0]) - 1]?.result.resolve(read(row))
    for (const { result } of batch) result.resolve(absent)
  }
  return openBatchQueue<Asked, Found>({
    name,
    run: (batch, askedAt) => aloneIfDamaged(batch, (part) => readTogether(part, askedAt)),
    weightMax: limits.getsPerStatementMax,
    runningMax: limits.getStatementsMax,
    startsFullBatches: true,
    waitingMax: limits.getsWaitingMax,
    waitMs: limits.databaseWaitMs,
  })
}
