import { DatabaseSync } from 'node:sqlite'
import { resources } from '@bursar/contract'
import type { Dialect } from '@bursar/records'
import { withPrimary } from '../../packages/postgres/src/cluster/with-primary.ts'
import { dialect as postgresDialect } from '../../packages/postgres/src/dialect.ts'
import { versionOf } from '../../packages/records/src/records/stored-record.ts'
import { fullOfRecord, versionMark } from '../../packages/records/src/schema/tables.ts'
import { dialect as sqliteDialect } from '../../packages/sqlite/src/dialect.ts'
import type { Called, TestService } from './harness.ts'
import type { TestStore } from './record-store.ts'
import { addressesOf, testStore } from './test-database.ts'

/** A stored version with its number, by the tables alone. The id has no dashes. */
type NumberedVersion = {
  readonly customerId: string
  readonly kind: string
  readonly id: string
  readonly change: number
  readonly storedAt: bigint
  /** As its entity tag has it. */
  readonly version: string
}

/** A write that a client has seen succeed: the version, and when it was sent and answered. */
export type SeenWrite = Omit<NumberedVersion, 'change' | 'storedAt'> & {
  readonly sentAt: number
  readonly answeredAt: number
}

/** The entity tag of an answer without its quotation marks. */
export const versionOfAnswer = ({ headers }: Pick<Called, 'headers'>): string =>
  (headers.get('etag') ?? '').replaceAll('"', '')

export type StoredOrder = {
  readonly versions: readonly NumberedVersion[]
  /** How many versions each customer has had. */
  readonly counted: ReadonlyMap<string, number>
}

const dialects = { postgres: postgresDialect, sqlite: sqliteDialect }

const versionsQuery = (dialect: Dialect) =>
  [
    ...resources.map((resource) => {
      const { row, join } = fullOfRecord(resource, dialect)
      return `select record.customer, '${resource.kind}' as kind,
          cast(${dialect.listedId.of('record')} as text) as id, record.change, record.stored_at,
          ${versionMark(resource, row)} as version_mark, record.deleted_at, record.source_version
        from ${dialect.tableName(resource.table)} as record ${join}`
    }),
    `select customer, kind, cast(id as text), change, stored_at,
       coalesce(version_mark, checksum), deleted_at, source_version
     from ${dialect.tableName('history')}`,
  ].join(' union all ')

/** Reads the order of a store whose versions were never pruned. */
export async function readOrder(
  ask: TestStore['ask'],
  store: keyof typeof dialects = testStore,
): Promise<StoredOrder> {
  const dialect = dialects[store]
  const numbers = ['stored_at', 'version_mark', 'deleted_at', 'source_version']
  const rows = await ask(`
    select owner.id as customer_id, version.kind, version.id, version.change,
      ${dialect.hex('owner.event_secret')} as secret,
      ${numbers.map((name) => `coalesce(cast(version.${name} as text), '') as ${name}`).join(', ')}
    from (${versionsQuery(dialect)}) as version
    join bursar.customer as owner on owner.number = version.customer`)
  const counted = await ask('select id, changes from bursar.customer')
  return {
    versions: rows.map(([customerId, kind, id, change, secret, ...values]) => {
      const row = {
        id: String(id),
        event_secret: Buffer.from(String(secret), 'hex'),
        ...Object.fromEntries(
          numbers.map((name, at) => [name, values[at] === '' ? null : BigInt(String(values[at]))]),
        ),
      }
      return {
        customerId: String(customerId),
        kind: String(kind),
        id: String(id).replaceAll('-', ''),
        change: Number(change),
        storedAt: BigInt(String(values[0])),
        version: versionOf(row),
      }
    }),
    counted: new Map(counted.map(([id, changes]) => [String(id), Number(changes)])),
  }
}

/** The same of the store of a service. */
export const orderOf = ({ place }: Pick<TestService, 'place'>): Promise<StoredOrder> =>
  readOrder(async (sql) => {
    const { commandUrl, superuserUrl } = place
    if (superuserUrl !== undefined) {
      return await withPrimary(addressesOf(superuserUrl), async (connection) => {
        const rows = await connection.query({ text: sql })
        return rows.map((row) => row.map(String))
      })
    }
    using db = new DatabaseSync(commandUrl.replace('sqlite:', ''), { readOnly: true })
    const rows = db.prepare(sql.replaceAll('bursar.', '')).all()
    return rows.map((row) => Object.values(row))
  })

/**
 * What breaks the law of changes: a customer's versions sorted by `change` are sorted by commit,
 * over all kinds, and no number is missing or given twice.
 */
export function orderFaults(order: StoredOrder, seen: readonly SeenWrite[] = []): string[] {
  const byCustomer = Map.groupBy(order.versions, ({ customerId }) => customerId)
  const numbers = [...order.counted].flatMap(([customerId, count]) =>
    numberFaults(customerId, byCustomer.get(customerId) ?? [], count),
  )
  const times = [...byCustomer.values()].flatMap(timeFaults)
  return [...numbers, ...times, ...seenFaults(order, seen)]
}

function numberFaults(
  customerId: string,
  versions: readonly NumberedVersion[],
  count: number,
): string[] {
  const times = Map.groupBy(versions, ({ change }) => change)
  const all = new Set([...times.keys(), ...Array.from({ length: count }, (_, at) => at + 1)])
  return [...all].flatMap((change) => {
    const found = times.get(change)?.length ?? 0
    if (found !== 1) return [`${customerId}: ${found} versions have the number ${change}`]
    return change < 1 || change > count ? [`${customerId}: ${change} was not counted`] : []
  })
}

/** The times of one kind never fall, and those of one record rise. */
function timeFaults(versions: readonly NumberedVersion[]): string[] {
  const sorted = versions.toSorted((one, other) => one.change - other.change)
  const latest = new Map<string, bigint>()
  return sorted.flatMap(({ customerId, kind, id, change, storedAt }) => {
    const ofKind = latest.get(kind) ?? -1n
    const ofRecord = latest.get(`${kind} ${id}`) ?? -1n
    latest.set(kind, storedAt)
    latest.set(`${kind} ${id}`, storedAt)
    const isInOrder = storedAt >= ofKind && storedAt > ofRecord
    return isInOrder ? [] : [`${customerId}: ${kind} ${id} with number ${change} is earlier`]
  })
}

/** A write that was sent after another was answered has the larger number. */
function seenFaults({ versions }: StoredOrder, seen: readonly SeenWrite[]): string[] {
  const keyOf = ({ customerId, kind, id, version }: Omit<NumberedVersion, 'change' | 'storedAt'>) =>
    `${customerId} ${kind} ${id} ${version}`
  const changes = new Map(versions.map((version) => [keyOf(version), version.change]))
  const faults: string[] = []
  for (const writes of Map.groupBy(seen, ({ customerId }) => customerId).values()) {
    const answered = writes.toSorted((one, other) => one.answeredAt - other.answeredAt)
    let at = 0
    let highest = 0
    for (const write of writes.toSorted((one, other) => one.sentAt - other.sentAt)) {
      for (let next = answered[at]; next !== undefined && next.answeredAt < write.sentAt; ) {
        highest = Math.max(highest, changes.get(keyOf(next)) ?? 0)
        at += 1
        next = answered[at]
      }
      const change = changes.get(keyOf(write))
      if (change === undefined) faults.push(`${keyOf(write)} is not stored`)
      else if (change <= highest) faults.push(`${keyOf(write)} has ${change}, after ${highest}`)
    }
  }
  return faults
}
