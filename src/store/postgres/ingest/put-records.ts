import { hash } from 'node:crypto'
import type { Resource } from '../../../contract/resource.ts'
import type { Clock } from '../../../platform/clock.ts'
import { limits } from '../../../platform/limits.ts'
import { resources } from '../../../resources/catalogue.ts'
import type { PutOutcome, PutRequest } from '../../records/put.ts'
import type { OperatorRecords } from '../../records.ts'
import { findQuery } from '../../sql/export-line.ts'
import {
  type PutOutcomes,
  type PutRows,
  type PutStatements,
  type PutStep,
  putBatch,
  putStatements,
} from '../../sql/ingest/put-batch.ts'
import { openPutQueue } from '../../sql/ingest/put-queue.ts'
import { stagedColumns, stagedValues } from '../../sql/staging.ts'
import type { Servers } from '../cluster/servers.ts'
import { transact } from '../cluster/transaction.ts'
import { dialect } from '../dialect.ts'
import { hexOf } from '../driver/cells.ts'
import { type Connection, textArray } from '../driver/connection.ts'
import { storeOrigin } from '../import/merge-staged.ts'
import { createStaging, dropStaging, typeOf } from '../import/staged-types.ts'

/**
 * Stores single records. Those that wait together share a transaction and its waits for disk and
 * standby. Batches of one kind run one after the other, and hold the lock that an import takes.
 */
export function openPutRecords(servers: Servers, clock: Clock): OperatorRecords['put'] {
  const opened = new Map<string, (request: PutRequest) => Promise<PutOutcome>>()
  return (resource, request) => {
    const put = opened.get(resource.kind) ?? openKind(servers, resource, clock)
    opened.set(resource.kind, put)
    return put(request)
  }
}

function openKind(servers: Servers, resource: Resource, clock: Clock) {
  const statements = putStatements(resource, dialect)
  const runBatch = (batch: readonly PutRequest[], deadline: number) =>
    servers.onPrimary(
      (connection) =>
        transact(connection, () => putTogether(connection, resource, statements, batch, clock)),
      deadline - performance.now(),
    )
  // Leaves a batch at least half of the time.
  return openPutQueue(runBatch, limits.recordPutMs / 2)
}

const columnsOfAll = ['sequence', ...new Set(resources.flatMap(stagedColumns))]
const created = `
  ${dropStaging};
  ${createStaging(columnsOfAll, 'on commit delete rows')};
  create index staged_by_id on staged (id)`

/**
 * Creates the staging tables if an earlier transaction of the session has not left the same ones:
 * one for every kind, because the catalogue would grow with a table for each batch. The commit
 * empties them. The comment tells them from those of an import or of another version.
 */
const ensureStaging = `
  do $staging$ begin
    if obj_description(to_regclass('pg_temp.staged'), 'pg_class') is distinct from '${hash('sha256', created)}' then
      ${created};
      comment on table staged is '${hash('sha256', created)}';
    end if;
  end $staging$`

async function putTogether(
  connection: Connection,
  resource: Resource,
  statements: PutStatements,
  batch: readonly PutRequest[],
  clock: Clock,
): Promise<PutOutcomes> {
  const take = openSteps(connection, resource, statements, batch)
  const lock = `lock table ${dialect.tableName(resource.table)} in share row exclusive mode`
  await connection.execute(`${ensureStaging}; ${lock}`)
  const steps = putBatch(statements, batch, clock())
  let step = steps.next([])
  while (step.done !== true) step = steps.next(await take(step.value))
  return step.value
}

function openSteps(
  connection: Connection,
  resource: Resource,
  statements: ReturnType<typeof putStatements>,
  batch: readonly PutRequest[],
) {
  const columns = ['sequence', ...stagedColumns(resource)]
  const origins = new Map<string, number>()
  const fileOf = async ({ from, takeOver = false }: PutRequest): Promise<number> => {
    const key = `${from.command} ${from.clientId} ${takeOver}`
    const known = origins.get(key)
    if (known !== undefined) return known
    const file = origins.size
    const taker = takeOver ? await storeOrigin(connection, from, true) : null
    const values = [file, await storeOrigin(connection, from), taker]
    const text = 'insert into staged_origin (file, origin, taker) values ($1, $2, $3)'
    await connection.query({ text, values, prepare: true })
    origins.set(key, file)
    return file
  }
  const stage = async (places: readonly number[]) => {
    const rows: Readonly<Record<string, unknown>>[] = []
    for (const place of places) {
      const request = batch[place] as PutRequest
      if ('withdraws' in request.record) continue
      const values = stagedValues({ ...request.record, line: place })
      rows.push({ ...values, sequence: place, file: await fileOf(request) })
    }
    const arrays = columns.map((column) => textArray(rows.map((row) => cellOf(row[column]))))
    const types = columns.map((column) => typeOf(column).replace(' collate "C"', ''))
    await connection.query({
      text: `insert into staged (${columns.join(', ')})
        select * from unnest(${types.map((type, at) => `$${at + 1}::${type}[]`).join(', ')})`,
      values: arrays,
      prepare: true,
    })
  }
  const withdraw = async (place: number, at: bigint) => {
    const request = batch[place] as PutRequest
    const { customerId, id } = request.record
    const values = [place, await fileOf(request), at, customerId, id]
    await connection.query({ text: statements.stageWithdrawn, values, prepare: true })
  }
  const keys = 'unnest($1::text[], $2::uuid[]) as key (customer_id, id)'
  const found = findQuery(resource, dialect, keys)
  return async (step: PutStep): Promise<PutRows> => {
    switch (step.do) {
      case 'stage':
        await stage(step.places)
        return []
      case 'withdraw':
        await withdraw(step.place, step.at)
        return []
      case 'find': {
        const customers = textArray(step.records.map(({ customerId }) => customerId))
        const ids = textArray(step.records.map(({ id }) => id))
        return await connection.rows({ text: found, values: [customers, ids], prepare: true })
      }
      case 'run': {
        // A text that names lines is rare, and the server need not keep it.
        const prepare = !step.sql.includes('where line in (')
        return await connection.rows({ text: step.sql, values: step.values, prepare })
      }
    }
  }
}

const cellOf = (value: unknown): string | null =>
  value === null || value === undefined
    ? null
    : value instanceof Uint8Array
      ? hexOf(value)
      : String(value)
