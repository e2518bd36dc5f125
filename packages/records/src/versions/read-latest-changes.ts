import { largest, limitsOf, turn } from '@bursar/base'
import { eventKinds } from '@bursar/contract'
import type { Dialect } from '../dialect.ts'
import type { LatestChange } from '../records/latest-change.ts'
import type { OperatorRecords } from '../records.ts'
import { bytes, type NamedRow, text, whole } from '../row.ts'
import type { Reads } from '../session.ts'
import { branchesOf } from './event-branches.ts'
import { readEvent } from './read-events.ts'
import { readOrigin } from './versions.ts'

const limits = limitsOf({
  /** Customers whose newest changes are read together. */
  latestCustomersTogether: 8,
})

/**
 * The newest changes by time. An index of revisions tells which customers have changed last, and
 * the index of each by number its last versions. The log of changes would not do: what it gets
 * together is ordered by customer. The customers are read in steps, until no other one can have a
 * newer change.
 */
export function openLatestChanges(
  { rows }: Reads,
  dialect: Dialect,
): OperatorRecords['latestChanges'] {
  const statements = latestStatements(dialect)
  const lastOf = async (owners: readonly Owner[], changesMax: number) => {
    const numbers = (of: (owner: Owner) => bigint) =>
      dialect.list(owners.map((owner) => Number(of(owner))))
    const low = ({ changes }: Owner) => largest(0n, changes - BigInt(changesMax))
    const values = [numbers(({ customer }) => customer), numbers(low)]
    const byNumber = new Map(owners.map((owner) => [owner.customer, owner]))
    const events = await rows({ text: statements.events, values, prepare: true })
    return events.flatMap((row) => changeOf(row, byNumber.get(whole(row, 'customer'))))
  }
  return async (customerId, changesMax) => {
    const found =
      customerId === undefined
        ? await rows({ text: statements.owners, values: [2 * changesMax], prepare: true })
        : await rows({ text: statements.owner, values: [customerId], prepare: true })
    // A customer has a row for each kind, of which the first is the newest.
    const owners = [
      ...new Map(
        found
          .map(readOwner)
          .toReversed()
          .map((o) => [o.customer, o]),
      ).values(),
    ].toSorted((one, other) => Number(other.changedAt - one.changedAt))
    let latest: readonly LatestChange[] = []
    for (let at = 0; at < owners.length; at += limits.latestCustomersTogether) {
      const oldest = latest.length === changesMax ? latest.at(-1)?.storedAt : undefined
      if (oldest !== undefined && (owners[at]?.changedAt ?? 0n) < oldest) break
      // A step takes some milliseconds, after which other requests have their turn.
      if (at > 0) await turn()
      const step = owners.slice(at, at + limits.latestCustomersTogether)
      const changes = [...latest, ...(await lastOf(step, changesMax))]
      latest = changes.toSorted(newestFirst).slice(0, changesMax)
    }
    return latest
  }
}

const newestFirst = (one: LatestChange, other: LatestChange): number =>
  Number(other.storedAt - one.storedAt) || Number(other.change - one.change)

type Owner = {
  readonly customer: bigint
  readonly customerId: string
  readonly secret: Uint8Array
  /** How many versions it has had. */
  readonly changes: bigint
  readonly changedAt: bigint
}

const readOwner = (row: NamedRow): Owner => ({
  customer: whole(row, 'customer'),
  customerId: text(row, 'customer_id'),
  secret: bytes(row, 'event_secret'),
  changes: whole(row, 'changes'),
  changedAt: whole(row, 'changed_at'),
})

function changeOf(row: NamedRow, owner: Owner | undefined): LatestChange[] {
  if (owner === undefined) return []
  const { customerId, secret } = owner
  return [{ ...readEvent(row), customerId, secret, origin: readOrigin(row) }]
}

export function latestStatements(dialect: Dialect) {
  const { tableName, parameter, unnest } = dialect
  const names = ['revision', 'customer', 'kept_since', 'origin']
  const [revision, customer, kept, origin] = names.map(tableName)
  const records = new Set(eventKinds.filter((kind) => kind !== 'fees'))
  const [number, none] = ['cast(entry.customer as bigint) as customer', 'cast(null as bigint)']
  const each = 'entry'
  const branches = [
    ...branchesOf(dialect, 'entry.customer', records, {
      columns: `${number}, record.origin, record.origin_line,`,
      each,
    }),
    ...branchesOf(dialect, 'entry.customer', new Set(['fees']), {
      columns: `${number}, ${none} as origin, ${none} as origin_line,`,
      each,
    }),
  ].map((branch) => branch('record.change > entry.low'))
  const columns = `cast(owner.number as bigint) as customer, owner.id as customer_id,
      owner.event_secret, owner.changes`
  return {
    owners: `select ${columns}, known.changed_at
      from ${revision} as known join ${customer} as owner on owner.number = known.customer
      where known.changed_at > 0
      order by known.changed_at desc limit ${parameter(1, 'bigint')}`,
    owner: `select ${columns}, cast(0 as bigint) as changed_at
      from ${customer} as owner where owner.id = ${parameter(1, 'text')}`,
    events: `
      with entry as materialized (
        select * from ${unnest('given', { customer: 'bigint[]', low: 'bigint[]' })})
      select event.*, kept.at as kept_since,
        origin.command, origin.client_id, origin.file, origin.os_user
      from (${branches.join(' union all ')}) as event
      left join ${kept} as kept on kept.customer = event.customer and kept.kind = event.kind
      left join ${origin} as origin on origin.id = event.origin`,
  }
}
