import { DatabaseSync } from 'node:sqlite'
import { resources } from '../../src/resources/catalogue.ts'
import { withPrimary } from '../../src/store/postgres/cluster/with-primary.ts'
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
}

/** A write that a client has seen succeed: the version, and when it was sent and answered. */
export type SeenWrite = Omit<NumberedVersion, 'change'> & {
  readonly sentAt: number
  readonly answeredAt: number
}

/** The time of a stored version, of which its entity tag has the digits in base 36. */
export const storedAtOf = ({ headers }: Pick<Called, 'headers'>): bigint =>
  [...(headers.get('etag') ?? '').replaceAll('"', '')].reduce(
    (sum, digit) => sum * 36n + BigInt(Number.parseInt(digit, 36)),
    0n,
  )

export type StoredOrder = {
  readonly versions: readonly NumberedVersion[]
  /** How many versions each customer has had. */
  readonly counted: ReadonlyMap<string, number>
}

const ids = {
  postgres: `replace(stored.id::text, '-', '')`,
  sqlite: 'lower(substr(hex(position), 17))',
}

const versionsQuery = (store: keyof typeof ids) =>
  [
    ...resources.map(
      ({ table, kind }) =>
        `select customer, '${kind}' as kind, ${ids[store]} as id, change, stored_at
         from bursar.${table} as stored`,
    ),
    `select customer, kind, replace(cast(id as text), '-', ''), change, stored_at
     from bursar.superseded`,
  ].join(' union all ')

/** Reads the order of a store whose versions were never pruned. */
export async function readOrder(
  ask: TestStore['ask'],
  store: keyof typeof ids = testStore,
): Promise<StoredOrder> {
  const rows = await ask(`
    select owner.id as customer_id, version.kind, version.id, version.change,
      cast(version.stored_at as text) as stored_at
    from (${versionsQuery(store)}) as version
    join bursar.customer as owner on owner.number = version.customer`)
  const counted = await ask('select id, changes from bursar.customer')
  return {
    versions: rows.map(([customerId, kind, id, change, storedAt]) => ({
      customerId: String(customerId),
      kind: String(kind),
      id: String(id),
      change: Number(change),
      storedAt: BigInt(String(storedAt)),
    })),
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
  const keyOf = ({ customerId, kind, id, storedAt }: Omit<NumberedVersion, 'change'>) =>
    `${customerId} ${kind} ${id} ${storedAt}`
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
