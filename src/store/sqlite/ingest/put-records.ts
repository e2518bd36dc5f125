import type { DatabaseSync, StatementSync } from 'node:sqlite'
import type { Resource } from '../../../contract/resource.ts'
import type { Clock } from '../../../platform/clock.ts'
import { limits } from '../../../platform/limits.ts'
import type { PutRequest } from '../../records/put.ts'
import type { OperatorRecords } from '../../records.ts'
import { findQuery } from '../../sql/export-line.ts'
import {
  type PutOutcomes,
  type PutRows,
  type PutStep,
  putBatch,
  putStatements,
} from '../../sql/ingest/put-batch.ts'
import { openPutQueue } from '../../sql/ingest/put-queue.ts'
import { openWithin, prepare } from '../database.ts'
import { dialect } from '../dialect.ts'
import { storeOrigin } from '../import/merge-staged.ts'
import { createStagingTable } from '../import/staging-table.ts'
import { openWrites } from '../locks.ts'
import { inputOf } from '../session.ts'

type PutRecords = {
  readonly put: OperatorRecords['put']
  close(): void
}

/** Stores single records. Those that wait together share a transaction and its disk wait. */
export function openPutRecords(path: string, clock: Clock): PutRecords {
  const opened = new Map<string, ReturnType<typeof openKind>>()
  const kindOf = (resource: Resource) => {
    const known = opened.get(resource.kind) ?? openKind(path, resource, clock)
    opened.set(resource.kind, known)
    return known
  }
  return {
    put: (resource, request) => kindOf(resource).put(request),
    close: () => {
      for (const { db } of opened.values()) db.close()
    },
  }
}

/** A kind has a connection of its own, because its staging table has the columns of the kind. */
function openKind(path: string, resource: Resource, clock: Clock) {
  const db = openWithin(path, 0, { creates: 'never' })
  // The table holds one batch, so it needs no disk.
  db.exec('pragma temp_store = memory')
  // Records lie all over the file, so a short log would be copied to it after every commit.
  db.exec(`pragma wal_autocheckpoint = ${limits.putLogPages}`)
  const write = openWrites(db)
  const session = openSession(db, resource)
  const put = openPutQueue(async (batch, deadline) => {
    try {
      return await write(() => session.run(batch, clock()), deadline)
    } catch (error) {
      session.forget()
      throw error
    }
  }, limits.recordPutMs)
  return { db, put }
}

/** Runs the steps of a batch, inside a transaction. */
function openSession(db: DatabaseSync, resource: Resource) {
  const stageRow = createStagingTable(db, resource)
  db.exec('create index temp.staged_by_id on staged (id)')
  const prepared = new Map<string, StatementSync>()
  const statement = (sql: string) => {
    const known = prepared.get(sql) ?? prepare(db, sql)
    // Only a few texts name lines; they are rare, and are not kept.
    if (!sql.includes('where line in (')) prepared.set(sql, known)
    return known
  }
  const empty = db.prepare('delete from staged')
  const addOrigin = db.prepare('insert into staged_origin (file, origin, taker) values (?, ?, ?)')
  const key = '(select ? as customer_id, ? as id) as key'
  const find = prepare(db, findQuery(resource, dialect, key))
  const statements = putStatements(resource, dialect)
  /** The number in `staged_origin` of each client and command. */
  const origins = new Map<string, number>()
  const fileOf = ({ from, takeOver = false }: PutRequest): number => {
    const key = `${from.command} ${from.clientId} ${takeOver}`
    const known = origins.get(key)
    if (known !== undefined) return known
    const file = origins.size
    addOrigin.run(file, storeOrigin(db, from), takeOver ? storeOrigin(db, from, true) : null)
    origins.set(key, file)
    return file
  }
  const stage = (request: PutRequest, place: number) => {
    if ('withdraws' in request.record) return
    stageRow({ ...request.record, line: place, file: fileOf(request) })
  }
  const withdraw = (request: PutRequest, place: number, at: bigint) => {
    const { customerId, id } = request.record
    statement(statements.stageWithdrawn).run(place, fileOf(request), at, customerId, id)
  }
  const take = (batch: readonly PutRequest[], step: PutStep): PutRows => {
    switch (step.do) {
      case 'stage':
        for (const place of step.places) stage(batch[place] as PutRequest, place)
        return []
      case 'withdraw':
        withdraw(batch[step.place] as PutRequest, step.place, step.at)
        return []
      case 'find':
        return step.records
          .map(({ customerId, id }) => find.get(customerId, id))
          .filter((row) => row !== undefined)
      case 'run':
        return statement(step.sql).all(...step.values.map(inputOf))
    }
  }
  return {
    run: (batch: readonly PutRequest[], now: bigint): PutOutcomes => {
      const steps = putBatch(statements, batch, now)
      let step = steps.next([])
      while (step.done !== true) step = steps.next(take(batch, step.value))
      empty.run()
      return step.value
    },
    /** A transaction that was rolled back has taken its origins with it. */
    forget: () => {
      origins.clear()
      db.exec('delete from staged; delete from staged_origin')
    },
  }
}
