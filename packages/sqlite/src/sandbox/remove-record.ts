import { isKeyedKind, type Resource } from '@bursar/contract'
import {
  eventNumbers,
  filterColumns,
  filterValue,
  heldMembers,
  isTrue,
  type LetGo,
  letGoStatements,
  noteOneDue,
  openParameters,
  removeTerms,
  type Session,
  selectValues,
  storedInFull,
  tablesOf,
  text,
  whole,
} from '@bursar/records'
import { dialect } from '../dialect.ts'
import { noteRevision, timeOfChange } from './revisions.ts'

/**
 * Removes a record from every read but that of events: a reader of those sees that it was deleted,
 * and its place stays valid. So the versions stay, and a last one is added that was never in force.
 * False if there is no record with this id.
 */
export async function removeRecord(
  session: Session,
  resource: Resource,
  id: string,
  now: bigint,
): Promise<boolean> {
  const removed = await findRecord(session, resource, id)
  if (removed === undefined) return false
  const { customer } = removed
  const at = await timeOfChange(session, resource.kind, customer, now)
  await session.rows({
    text: 'update customer set changes = changes + 1 where number = $1',
    values: [customer],
  })
  await session.rows({ text: noteOneDue(dialect), values: [customer] })
  const last = { stored_at: at, change: removed.change, event: eventNumbers.deleted, origin: null }
  for (const members of [{}, { ...last, deleted_at: at, origin_line: null }]) {
    await supersede(session, resource, removed, at, members)
  }
  await noteFormerValues(session, resource, removed, at)
  if (resource.terms !== undefined) {
    const where = `${dialect.listedId.is('stored', '$1')} and stored.customer = $2`
    const text = removeTerms(dialect, { from: `${resource.table} as stored`, where, row: 'stored' })
    await session.rows({ text, values: [id, customer] })
  }
  const held = await valuesOf(session, resource, removed)
  for (const table of tablesOf(resource)) {
    const has = table === resource.table ? dialect.listedId.is(table, '$1') : 'id = $1'
    const text = `delete from ${table} where ${has} and customer = $2`
    await session.rows({ text, values: [id, customer] })
  }
  for (const statement of letGoStatements(resource, dialect, held)) await session.rows(statement)
  await noteRevision(session, resource.kind, { customer, at, liveAdded: removed.isLive ? -1 : 0 })
  return true
}

type Removed = {
  readonly id: string
  readonly customer: bigint
  /** The number of the version that says that it was deleted. */
  readonly change: bigint
  readonly isLive: boolean
}

/** The record with the id, and not one that has lost it. */
async function findRecord(
  { rows }: Session,
  { table }: Resource,
  id: string,
): Promise<Removed | undefined> {
  const text = `select stored.customer, owner.changes + 1 as change, stored.deleted
    from ${table} as stored join customer as owner on owner.number = stored.customer
    where ${dialect.listedId.is('stored', '$1')} order by stored.id_taken limit 1`
  const [found] = await rows({ text, values: [id] })
  if (found === undefined) return undefined
  const [customer, change] = [whole(found, 'customer'), whole(found, 'change')]
  return { id, customer, change, isLive: !isTrue(found.deleted) }
}

/** What the customer holds by the record, which must still be stored. */
async function valuesOf(
  { rows }: Session,
  resource: Resource,
  { customer, id }: Removed,
): Promise<LetGo> {
  const found = await rows({
    text: selectValues(heldMembers(resource, dialect, 'stored'), {
      from: `${resource.table} as stored`,
      where: `${dialect.listedId.is('stored', '$1')} and stored.customer = $2`,
      columns: [],
    }),
    values: [id, customer],
  })
  return found.map((row) => ({ member: text(row, 'member'), value: text(row, 'value') }))
}

/** Copies the record to the replaced versions, with other values of some columns. */
async function supersede(
  { rows }: Session,
  resource: Resource,
  { customer, id }: Removed,
  at: bigint,
  members: Readonly<Record<string, bigint | number | null>>,
): Promise<void> {
  const { add, values } = openParameters(dialect)
  const { tables, on } = storedInFull(resource, dialect)
  const isMasked = resource.mask !== undefined
  const full = isMasked ? 'stored_full' : 'stored'
  const same = ['stored_at', 'change', 'event', 'deleted_at', 'source_version', 'origin']
  const columns = {
    kind: `'${resource.kind}'`,
    customer: 'stored.customer',
    id: dialect.listedId.of('stored'),
    replaced_at: add(at, 'bigint'),
    body: `${full}.body`,
    checksum: `${full}.checksum`,
    ...(isKeyedKind(resource) && { version_mark: `${full}.version_mark` }),
    masked: isMasked ? 'stored.body' : 'null',
    masked_checksum: isMasked ? 'stored.checksum' : 'null',
    origin_line: 'stored.origin_line',
    ...Object.fromEntries(same.map((column) => [column, `stored.${column}`])),
    ...Object.fromEntries(
      Object.entries(members).map(([column, value]) => [column, add(value, 'bigint')]),
    ),
  }
  const text = `insert into history (${Object.keys(columns).join(', ')})
    select ${Object.values(columns).join(', ')} from ${tables}
    where stored.customer = ${add(customer, 'bigint')}
      and ${dialect.listedId.is('stored', add(id, 'uuid'))} and ${on}`
  await rows({ text, values })
}

/** If the id is created again, pages of the past find the record by the values that it had. */
async function noteFormerValues(
  { rows }: Session,
  resource: Resource,
  { customer, id }: Removed,
  at: bigint,
): Promise<void> {
  for (const column of filterColumns(resource)) {
    const value = filterValue(resource, dialect, { row: 'stored' }, column)
    await rows({
      text: `insert into former_value (customer, kind, member, value, position, until)
        select customer, $1, $2, ${value}, position, $3 from ${resource.table} as stored
        where customer = $4 and ${dialect.listedId.is('stored', '$5')} and ${value} is not null
        on conflict (customer, kind, member, value, position) do update set until = excluded.until`,
      values: [resource.kind, column, at, customer, id],
    })
  }
}
