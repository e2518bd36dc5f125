import { limitsOf, turn } from '@bursar/base'
import type { Resource } from '@bursar/contract'
import { type Dialect, openParameters, type Parameters } from '../dialect.ts'
import { type Position, positionId } from '../position.ts'
import { bytes, isTrue, type NamedRow, whole } from '../row.ts'
import { customerNumber, customerId as idOf } from '../schema/customers.ts'
import { termTable } from '../schema/tables.ts'
import type { Reads, Statement } from '../session.ts'

const limits = limitsOf({
  /** Records that a search by words compares in a step of some milliseconds, and its steps. */
  searchRowsTogether: 200,
  searchStepsMax: 25,
})

/** Records that have all of some terms, and that `isOther` does not hold for. */
export type WordSearch = {
  readonly resource: Resource
  /** The whole names of the terms, as they are stored. */
  readonly terms: readonly string[]
  readonly customerId: string | undefined
  /** The id of the record after which the search goes on. */
  readonly after: string | undefined
  /** A condition on the row of a record that others than the wanted ones fulfil. */
  readonly isOther: (parameters: Parameters) => string
}

export type WordHits = {
  readonly rows: readonly NamedRow[]
  /** The position of the last record that was read, where more may follow. */
  readonly stoppedAt: Position | undefined
}

/**
 * Walks the records of the rarest term in the order of customers, and compares each with the other
 * terms. A walk that finds too little ends after some steps.
 */
export async function findByWords(
  reads: Reads,
  dialect: Dialect,
  search: WordSearch,
  hitsMax: number,
): Promise<WordHits> {
  const rarest = await rarestTerm(reads, dialect, search)
  const found: NamedRow[] = []
  let { after } = search
  for (let step = 0; step < limits.searchStepsMax; step += 1) {
    const rows = await reads.rows(walkOf(dialect, { ...search, after }, rarest))
    for (const row of rows) {
      const position = bytes(row, 'position')
      if (isTrue(row.is_hit)) found.push(row)
      if (found.length === hitsMax) return { rows: found, stoppedAt: position }
      after = positionId(position)
    }
    const last = rows.at(-1)
    if (last === undefined || rows.length < limits.searchRowsTogether) break
    if (step === limits.searchStepsMax - 1) {
      return { rows: found, stoppedAt: bytes(last, 'position') }
    }
    await turn()
  }
  return { rows: found, stoppedAt: undefined }
}

/** The term with the fewest records, of which it counts a bounded number. */
async function rarestTerm(
  reads: Reads,
  dialect: Dialect,
  { terms, customerId }: WordSearch,
): Promise<string> {
  let [rarest = '', fewest] = [terms[0], Number.POSITIVE_INFINITY]
  if (terms.length === 1) return rarest
  for (const term of terms) {
    const [row = {}] = await reads.rows(countOf(dialect, term, customerId))
    const count = Number(whole(row, 'count'))
    if (count < fewest) [rarest, fewest] = [term, count]
  }
  return rarest
}

export function countOf(dialect: Dialect, term: string, customerId: string | undefined): Statement {
  const { add, values } = openParameters(dialect)
  const text = `select count(*) as count from (select 1 from ${dialect.tableName(termTable)}
      where term = ${add(term, 'text')} ${inScope(dialect, customerId, add)}
      limit ${limits.searchRowsTogether * limits.searchStepsMax}) as counted`
  return { text, values, prepare: true }
}

const inScope = (dialect: Dialect, customerId: string | undefined, add: Parameters['add']) =>
  customerId === undefined ? '' : `and scope = ${customerNumber(dialect, add(customerId, 'text'))}`

/** The next records of a term, each with whether it is a hit. */
export function walkOf(
  dialect: Dialect,
  { resource: { table }, terms, customerId, after, isOther }: WordSearch,
  term: string,
): Statement {
  const { tableName, boolean } = dialect
  const parameters = openParameters(dialect)
  const { add, values } = parameters
  const place = (column: string) => {
    const last = dialect.listedId.is('last', add(after ?? '', 'uuid'))
    return `(select ${column} from ${tableName(table)} as last where ${last} and stored_at >= 0)`
  }
  // A scan of one scope begins at the place only if the condition does not name the scope again.
  const isAfterPlace = () =>
    customerId === undefined
      ? `and (scope, sort, position) > (${place('customer')}, '', ${place('position')})`
      : `and (sort, position) > ('', ${place('position')})`
  const others = terms.filter((other) => other !== term)
  const conditions = [
    ...others.map((other) => hasTerm(dialect, 'held', add(other, 'text'))),
    `(${isOther(parameters)}) is not true`,
  ]
  const text = `
      select ${idOf(dialect, 'held.customer')} as customer_id, held.position,
        cast(null as text) as sort_key,
        case when ${conditions.join(' and ')} then ${boolean(true)} else ${boolean(false)} end as is_hit
      from (select scope, customer, sort, position from ${tableName(termTable)}
          where term = ${add(term, 'text')} ${inScope(dialect, customerId, add)} ${after === undefined ? '' : isAfterPlace()}
          order by scope, sort, position limit ${limits.searchRowsTogether}) as held
        join ${tableName(table)} on ${table}.customer = held.customer
          and ${table}.deleted in (${boolean(false)}, ${boolean(true)})
          and ${table}.position = held.position
      order by held.scope, held.sort, held.position`
  return { text, values, prepare: true }
}

/** Whether the record of a row has a term. */
export const hasTerm = ({ tableName }: Dialect, row: string, term: string): string =>
  `exists (select 1 from ${tableName(termTable)} as also where also.term = ${term}
          and also.scope = ${row}.customer and also.sort = '' and also.position = ${row}.position)`
