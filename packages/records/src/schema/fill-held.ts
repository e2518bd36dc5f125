import { type Logger, limitsOf, systemTime } from '@bursar/base'
import type { Resource } from '@bursar/contract'
import { type Dialect, openParameters } from '../dialect.ts'
import { recordsLimits } from '../limits.ts'
import { isTrue, type NamedRow, text, whole } from '../row.ts'
import type { Statement } from '../session.ts'
import { createHeldTable, heldMembers, holdValues, selectValues } from './held-values.ts'
import { heldTable } from './tables.ts'

const limits = limitsOf({
  /** How often a migration that notes values tells how far it is. */
  fillLoggedMs: 5000,
})

/** What a step does to stored records, in batches, before its SQL. */
export type Filling = {
  /** Runs before each batch, and again does nothing. */
  readonly begin: string
  /**
   * Yields statements, gets the rows of each, and returns whether there is more to do. It is one
   * transaction, which notes where it has ended.
   */
  readonly batch: () => Generator<Statement, boolean, readonly NamedRow[]>
}

/** How far the table of held values is filled: the next walk, and the last row of it. */
const placeTable = 'held_filled'

/**
 * Creates the table, and what an interrupted filling goes on from. Writers of 0.1.0 on PostgreSQL
 * claim values in a table that goes, so none stores a value that the filling could miss.
 */
function beginFilling(dialect: Dialect): string {
  const { types, tableName, rowTableOptions } = dialect
  return `${createHeldTable(dialect)}
create table if not exists ${tableName(placeTable)} (
  walk ${types.integer} not null,
  customer ${types.integer} not null,
  deleted ${types.boolean} not null,
  place text not null                      -- a position, in hexadecimal digits
)${rowTableOptions};
drop table if exists ${tableName('claim')}`
}

/** The owner could not fill a table whose rows it may not see. */
export const endFilling = ({ tableName, protect }: Dialect): string =>
  `drop table ${tableName(placeTable)};\n${protect(heldTable, 'customer')}`

/** Rows of a kind in an order, with those of their values that the walk stores. */
type Walk = {
  readonly resource: Resource
  readonly which: 'addresses' | 'others'
}

/**
 * Fills the table from the stored records. Addresses come in the order in which the records were
 * created, so that the first of several customers holds one.
 */
export function fillHeld(dialect: Dialect, kinds: readonly Resource[]): Filling {
  const { tableName, parameter } = dialect
  const walks = kinds.flatMap((resource): readonly Walk[] => [
    { resource, which: 'others' },
    ...(resource.exclusive === undefined ? [] : [{ resource, which: 'addresses' } as const]),
  ])
  const place = tableName(placeTable)
  const batch: Filling['batch'] = function* () {
    const [from] = yield { text: `select walk, customer, deleted, place from ${place}` }
    const at = from === undefined ? 0 : Number(whole(from, 'walk'))
    const walk = walks[at]
    if (walk === undefined) return false
    const start = from === undefined ? undefined : readPlace(from)
    const { last, fill } = walkStatements(dialect, walk, start)
    const [end] = yield last
    yield fill(end && readPlace(end))
    const { customer, deleted, position } = end === undefined ? BEGIN : readPlace(end)
    yield { text: `delete from ${place}` }
    yield {
      text: `insert into ${place} (walk, customer, deleted, place) values (
        ${parameter(1, 'bigint')}, ${parameter(2, 'bigint')}, ${parameter(3, 'boolean')}, ${parameter(4, 'text')})`,
      values: [end === undefined ? at + 1 : at, customer, deleted, position],
    }
    return true
  }
  return { begin: beginFilling(dialect), batch }
}

/** Logs every few seconds how far a filling is; called after each batch. */
export function openFillProgress(log: Logger): () => void {
  let batches = 0
  let loggedAt = systemTime.elapsedMs()
  return () => {
    batches += 1
    if (systemTime.elapsedMs() - loggedAt < limits.fillLoggedMs) return
    loggedAt = systemTime.elapsedMs()
    log.info(
      { records: batches * recordsLimits.heldFilledTogether },
      'noting who holds which value',
    )
  }
}

type Place = {
  readonly customer: bigint
  readonly deleted: boolean
  /** In hexadecimal digits. */
  readonly position: string
}

const BEGIN: Place = { customer: 0n, deleted: false, position: '' }

const readPlace = (row: NamedRow): Place => ({
  customer: whole(row, 'customer'),
  deleted: isTrue(row.deleted),
  position: text(row, 'place'),
})

/** The statement that finds where a batch ends, if it is not the last, and the one that fills. */
function walkStatements(dialect: Dialect, { resource, which }: Walk, start = BEGIN) {
  const { tableName, hex, bytes, boolean } = dialect
  const isOfAll = which === 'addresses'
  const order = isOfAll ? 'stored.position' : 'stored.customer, stored.deleted, stored.position'
  const table = `${tableName(resource.table)} as stored`
  const among = isOfAll ? `stored.stored_at >= 0 and stored.deleted = ${boolean(false)}` : 'true'
  const bounds = (places: readonly (readonly ['>' | '<=', Place])[]) => {
    const { add, values } = openParameters(dialect)
    const conditions = places.map(([operator, { customer, deleted, position }]) =>
      isOfAll
        ? `stored.position ${operator} ${bytes(add(position, 'text'))}`
        : `(${order}) ${operator} (${add(customer, 'integer')}, ${add(deleted, 'boolean')}, ${bytes(add(position, 'text'))})`,
    )
    return { where: [among, ...conditions].join(' and '), values }
  }
  const from = bounds([['>', start]])
  const members = heldMembers(resource, dialect, 'stored').filter(
    ({ rows }) => (rows !== '') === isOfAll,
  )
  return {
    last: {
      text: `select stored.customer, stored.deleted, ${hex('stored.position')} as place
        from ${table} where ${from.where}
        order by ${order} limit 1 offset ${recordsLimits.heldFilledTogether - 1}`,
      values: from.values,
    },
    fill: (end: Place | undefined): Statement => {
      const { where, values } = bounds([
        ['>', start],
        ...(end === undefined ? [] : [['<=', end] as const]),
      ])
      const rows = selectValues(members, {
        from: table,
        where,
        columns: ['stored.customer', 'stored.position'],
      })
      return {
        text: holdValues(resource, dialect, rows, isOfAll ? 'position' : 'value, member'),
        values,
      }
    },
  }
}
