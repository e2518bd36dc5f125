import type { Resource } from '@bursar/contract'
import type { Dialect } from '../dialect.ts'
import { recordsLimits } from '../limits.ts'
import { positionId } from '../position.ts'
import { bytes, type NamedRow, optionalText, text, whole } from '../row.ts'
import { customerId } from '../schema/customers.ts'
import {
  heldMembers,
  isHadByHolder,
  letGoList,
  selectHad,
  selectValues,
} from '../schema/held-values.ts'
import { isStray, missingTerms } from '../schema/record-terms.ts'
import { heldTable, termTable } from '../schema/tables.ts'
import type { Reads, Value } from '../session.ts'

/** The place of a row in its table, which is read in this order. */
export type RowKey = {
  /** The number of the customer. */
  readonly customer: bigint
  readonly deleted: boolean
  readonly position: Uint8Array
}

/**
 * A row beside the records that is not what they derive: a unique claim, or a term of the index. A
 * `contested` value is one that nobody claims and that records of two customers have.
 */
export type DerivedFault = {
  readonly kind: string
  readonly customer: bigint
  readonly customerId: string
} & (
  | {
      readonly fault: 'unclaimed' | 'contested' | 'claimed without a record'
      readonly member: string
      /** Never shown: it may be an address. */
      readonly value: string
    }
  | { readonly fault: 'terms missing'; readonly id: string; readonly position: Uint8Array }
  | { readonly fault: 'a term left over'; readonly id: string; readonly term: TermKey }
)

type TermKey = {
  readonly term: string
  readonly scope: bigint
  readonly sort: string
  readonly position: Uint8Array
}

/** Compares what is stored beside the records with them, a bounded part at a time. */
export type DerivedRows = {
  /** What so many records after a key, in the order of their table, lack. */
  missing(
    resource: Resource,
    key: RowKey | undefined,
    rowsMax: number,
  ): Promise<readonly DerivedFault[]>
  /** What is left over of records that are gone. */
  leftOver(resource: Resource): AsyncIterable<readonly DerivedFault[]>
}

type ValueFault = Extract<DerivedFault, { readonly value: string }>

export function derivedRows({ rows }: Reads, dialect: Dialect): DerivedRows {
  const statements = compareStatements(dialect)
  const contested = async (resource: Resource, values: readonly ValueFault[]) => {
    if (values.length === 0) return []
    const { from, values: parameters } = letGoList(dialect, values)
    return await rows({ text: statements.contested(resource, from), values: parameters })
  }
  const unclaimed = async (resource: Resource, page: Page): Promise<readonly DerivedFault[]> => {
    const found = await rows({ text: statements.unclaimed(resource, page), values: page.values })
    const faults = found.map((row) => readValue('unclaimed', resource, row))
    const shared = new Set((await contested(resource, faults)).map(nameOf))
    return faults.map((one) => (shared.has(nameOf(one)) ? { ...one, fault: 'contested' } : one))
  }
  const withoutTerms = async (resource: Resource, page: Page): Promise<readonly DerivedFault[]> => {
    if (resource.terms === undefined) return []
    const found = await rows({ text: statements.withoutTerms(resource, page), values: page.values })
    return found.map((row) => {
      const position = bytes(row, 'position')
      return {
        ...ownerIn(resource, row),
        fault: 'terms missing',
        id: positionId(position),
        position,
      }
    })
  }
  async function* claimsLeftOver(resource: Resource): AsyncIterable<readonly DerivedFault[]> {
    for (let after: string | undefined = ''; after !== undefined; ) {
      const asked = { text: statements.endOfClaims(resource), values: [after] }
      const [last]: readonly NamedRow[] = await rows(asked)
      const until: string | undefined = last && text(last, 'value')
      const found = await rows({
        text: statements.claimsLeftOver(resource, until !== undefined),
        values: until === undefined ? [after] : [after, until],
      })
      yield found.map((row) => readValue('claimed without a record', resource, row))
      after = until
    }
  }
  async function* termsLeftOver(resource: Resource): AsyncIterable<readonly DerivedFault[]> {
    const letter = resource.terms?.letter
    if (letter === undefined) return
    let after: TermKey | undefined = {
      term: letter,
      scope: -1n,
      sort: '',
      position: new Uint8Array(0),
    }
    while (after !== undefined) {
      const values = [after.term, after.scope, after.sort, after.position]
      // The caller removes what is found, and the end of the part must not move by that.
      const [last]: readonly NamedRow[] = await rows({
        text: statements.endOfTerms(letter),
        values,
      })
      const found = await rows({ text: statements.termsLeftOver(resource, letter), values })
      yield found.map((row) => {
        const term = readTerm(row)
        return {
          ...ownerIn(resource, row),
          fault: 'a term left over',
          id: positionId(term.position),
          term,
        }
      })
      after = last && readTerm(last)
    }
  }
  return {
    missing: async (resource, key, rowsMax) => {
      const page = pageOf(dialect, resource, key, rowsMax)
      return [...(await unclaimed(resource, page)), ...(await withoutTerms(resource, page))]
    },
    async *leftOver(resource) {
      yield* claimsLeftOver(resource)
      yield* termsLeftOver(resource)
    },
  }
}

/** So many rows of a kind after a key, as what follows `from`, and the parameters of that. */
type Page = { readonly as: (row: string) => string; readonly values: readonly Value[] }

function pageOf(
  { parameter, tableName }: Dialect,
  { table }: Resource,
  key: RowKey | undefined,
  rowsMax: number,
): Page {
  const place = [parameter(2, 'bigint'), parameter(3, 'boolean'), parameter(4, 'bytea')].join(', ')
  const isAfter = key === undefined ? '' : `where (customer, deleted, position) > (${place})`
  return {
    as: (row) => `(select * from ${tableName(table)} ${isAfter}
      order by customer, deleted, position limit ${parameter(1, 'bigint')}) as ${row}`,
    values: [rowsMax, ...(key === undefined ? [] : [key.customer, key.deleted, key.position])],
  }
}

function compareStatements(dialect: Dialect) {
  const { tableName, parameter } = dialect
  const held = `${tableName(heldTable)} as held`
  const [first, second] = [parameter(1, 'text'), parameter(2, 'text')]
  const owner = (row: string) =>
    `${row}.customer, ${customerId(dialect, `${row}.customer`)} as customer_id`
  const termKey = 'term, scope, sort, position'
  const termsAfter = (letter: string) => `(select * from ${tableName(termTable)}
      where (${termKey}) > (${first}, ${parameter(2, 'bigint')}, ${parameter(3, 'text')},
        ${parameter(4, 'bytea')}) and term < '${letter}~'
      order by ${termKey} limit ${recordsLimits.valuesComparedTogether})`
  return {
    unclaimed: (resource: Resource, page: Page) => {
      const brought = selectValues(heldMembers(resource, dialect, 'stored'), {
        from: page.as('stored'),
        where: 'true',
        columns: ['stored.customer'],
      })
      return `select brought.member, brought.value, ${owner('brought')}
        from (${brought}) as brought left join ${held} on held.value = brought.value
          and held.kind = '${resource.kind}' and held.member = brought.member
        where held.value is null`
    },
    /** Values of a list that records of several customers have. */
    contested: (resource: Resource, list: string) => `
      select member, value from (${selectHad(resource, dialect, list)}) as had
      group by member, value having count(distinct customer) > 1`,
    withoutTerms: (resource: Resource, page: Page) => `
      select missing.position, ${owner('missing')}
      from (${missingTerms(resource, dialect, page.as('record'))}) as missing`,
    /** Where so many claimed values after one end. */
    endOfClaims: ({ kind }: Resource) => `select value from ${held}
      where value > ${first} and kind = '${kind}'
      order by value limit 1 offset ${recordsLimits.valuesComparedTogether - 1}`,
    claimsLeftOver: (resource: Resource, isBounded: boolean) => `
      select held.member, held.value, ${owner('held')} from ${held}
      where held.value > ${first} ${isBounded ? `and held.value <= ${second}` : ''}
        and held.kind = '${resource.kind}' and not ${isHadByHolder(resource, dialect)}`,
    termsLeftOver: (resource: Resource, letter: string) => `
      select term, scope, sort, position, ${owner('held')}
      from ${termsAfter(letter)} as held where ${isStray(resource, dialect)}`,
    endOfTerms: (letter: string) => `select ${termKey} from ${termsAfter(letter)} as part
      order by term desc, scope desc, sort desc, position desc limit 1`,
  }
}

const nameOf = ({ member, value }: NamedRow): string => JSON.stringify([member, value])

const ownerIn = ({ kind }: Resource, row: NamedRow) => ({
  kind,
  customer: whole(row, 'customer'),
  // A damaged row may have the number of no customer.
  customerId: optionalText(row, 'customer_id') ?? '',
})

const readValue = (fault: ValueFault['fault'], resource: Resource, row: NamedRow): ValueFault => ({
  ...ownerIn(resource, row),
  fault,
  member: text(row, 'member'),
  value: text(row, 'value'),
})

const readTerm = (row: NamedRow): TermKey => ({
  term: text(row, 'term'),
  scope: whole(row, 'scope'),
  sort: text(row, 'sort'),
  position: bytes(row, 'position'),
})
