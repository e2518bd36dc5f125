import assert from 'node:assert/strict'
import type { CustomerKey } from '@bursar/base'
import { fullTable, type Resource } from '@bursar/contract'
import {
  ensureKeys,
  eventNumbers,
  heldMembers,
  heldTable,
  holdValues,
  isKeyedInClear,
  type KeyMaking,
  memberColumns,
  type NewRecords,
  noteOneDue,
  openBindings,
  openCustomerNumbers,
  ownerOf,
  type Session,
  type StagedValue,
  sealRecord,
  selectValues,
  settleOwners,
  stagedValues,
  termRowsOf,
  termTable,
  whole,
} from '@bursar/records'
import { dialect } from '../dialect.ts'
import { type Counted, noteRevision, timeOfChange } from './revisions.ts'

/** Inserts records without a staging table, which takes half of the time of few records. */
export async function addRecords(
  session: Session,
  added: readonly NewRecords[],
  now: bigint,
  sealing: KeyMaking,
): Promise<void> {
  const customers = await addCustomers(session, added, sealing)
  for (const { resource, records } of added) {
    const { kind } = resource
    const owners = [...customers].filter(([id]) =>
      records.some(({ customerId }) => customerId === id),
    )
    const times = new Map<string, bigint>()
    for (const [id, { number }] of owners) {
      times.set(id, await timeOfChange(session, kind, number, now))
    }
    const keys = new Map<string, CustomerKey>()
    for (const [id] of owners) {
      const { current } = await ensureKeys(session, sealing, id)
      if (current !== undefined) keys.set(id, current)
    }
    const full = records.map((record): Row => {
      const stored_at = times.get(record.customerId)
      const key = keys.get(record.customerId)
      assert(key !== undefined, 'the keys of a sandbox open')
      const sealed = sealRecord(key, resource, record)
      const values = { ...stagedValues(sealed), ...nextVersion(customers.get(record.customerId)) }
      const deleted = values.deleted_at === null ? 0 : 1
      const { full_body: body, full_checksum: checksum } = values
      const event = deleted === 1 ? eventNumbers.deleted : eventNumbers.created
      return { ...values, deleted, event, body, checksum, stored_at }
    })
    const isMasked = resource.mask !== undefined
    const mark = isKeyedInClear(resource) ? ['version_mark'] : []
    const listed = full.map((row) =>
      isMasked ? { ...row, body: row.masked, checksum: row.masked_checksum } : row,
    )
    await insert(session, resource.table, [...inList, ...mark, ...memberColumns(resource)], listed)
    if (isMasked) await insert(session, fullTable(resource), inFull, full)
    await holdAdded(
      session,
      resource,
      full.map(({ id }) => String(id)),
    )
    if (resource.terms !== undefined) {
      await insert(session, termTable, termColumns, full.flatMap(termRows))
    }
    for (const [id, { number }] of owners) {
      const isLive = (record: NewRecords['records'][number]) =>
        record.customerId === id && record.deletedAt == null
      const liveAdded = records.filter(isLive).length
      await noteChange(session, resource, { customer: number, at: times.get(id) ?? now, liveAdded })
    }
  }
  for (const { number, changes } of customers.values()) {
    const text = 'update customer set changes = $2 where number = $1'
    await session.rows({ text, values: [number, changes] })
    await session.rows({ text: noteOneDue(dialect), values: [number] })
  }
}

/** A value of a record belongs to another customer. */
export class ValueHeld extends Error {
  override readonly name = 'ValueHeld'
}

async function holdAdded(
  { rows }: Session,
  resource: Resource,
  ids: readonly string[],
): Promise<void> {
  const { listedId, indexedBy, list } = dialect
  const added = selectValues(heldMembers(resource, dialect, 'stored'), {
    from: `${resource.table} as stored ${indexedBy(`${resource.table}_by_id`)}`,
    where: listedId.isAnyOf('stored', '$1'),
    columns: ['stored.customer', 'stored.position'],
  })
  const values = [list(ids)]
  await rows({ text: holdValues(resource, dialect, added, 'position'), values })
  const [foreign] = await rows({
    text: `select 1 from (${added}) as brought cross join ${heldTable} as held
      where held.value = brought.value and held.kind = '${resource.kind}'
        and held.member = brought.member and held.customer <> brought.customer limit 1`,
    values,
  })
  if (foreign !== undefined) throw new ValueHeld()
}

type Row = Readonly<Record<string, StagedValue | undefined>>

/** The rows of the terms of a record, whose row is given. Deleted records have theirs too. */
const termRows = ({ terms, customer, position }: Row): readonly Row[] =>
  typeof terms !== 'string' || typeof customer !== 'bigint'
    ? []
    : termRowsOf(terms, customer).map((row) => ({ ...row, customer, position }))

const termColumns = ['term', 'scope', 'sort', 'since', 'position', 'customer']

/** The number of a customer, and how many versions were stored for it. */
type Customer = { readonly number: bigint; changes: bigint }

/** Adds the customers of records, and returns each by its id, for this transaction. */
async function addCustomers(session: Session, added: readonly NewRecords[], sealing: KeyMaking) {
  const { rows } = session
  const numbers = openCustomerNumbers(openBindings(sealing))
  const ids = new Set(added.flatMap(({ records }) => records.map(({ customerId }) => customerId)))
  const customers = new Map<string, Customer>()
  for (const id of ids) {
    const into = 'insert into customer (id) values ($1) on conflict (id) do nothing returning id'
    const isNew = await rows({ text: into, values: [id] })
    const text = `select id, number, changes, ${ownerOf('owner')} as owner from customer as owner where id = $1`
    const [row = {}] = await rows({ text, values: [id] })
    await settleOwners(session, { dialect, numbers }, [row], () => isNew.length > 0)
    customers.set(id, { number: whole(row, 'number'), changes: whole(row, 'changes') })
  }
  return customers
}

/** The columns of the next version of a customer that `addCustomers` has returned. */
function nextVersion(customer: Customer | undefined) {
  if (customer === undefined) return {}
  customer.changes += 1n
  return { customer: customer.number, change: customer.changes }
}

const inBoth = ['customer', 'deleted', 'body', 'checksum']
const inFull = [...inBoth, 'id', 'version_mark']
const inList = [
  ...inBoth,
  'position',
  'deleted_at',
  'updated_at',
  'source_version',
  'stored_at',
  'change',
  'event',
  ...dialect.listedId.columns,
]

const insert = (session: Session, table: string, names: readonly string[], rows: readonly Row[]) =>
  session.stage(
    { table, columns: Object.fromEntries(names.map((name) => [name, 'any'])) },
    rows.map((row) => names.map((name) => row[name] ?? null)),
  )

/** Raises the revision of a customer's records, and bounds the past lists as a merge does. */
async function noteChange(
  session: Session,
  { table, kind }: Resource,
  counted: Counted,
): Promise<void> {
  const { customer, at } = counted
  const reached = `select min(position), max(position) from ${table} where customer = $1`
  const changes = [
    `insert into kept_since (customer, kind, at) values ($1, $2, $3)
     on conflict (customer, kind) do update set at = min(at, excluded.at)`,
    `insert into extent (customer, kind, changed_at, low, high)
     select $1, $2, $3, * from (${reached})`,
  ]
  for (const text of changes) await session.rows({ text, values: [customer, kind, at] })
  await noteRevision(session, kind, counted)
}
