import type { Resource } from '@bursar/contract'
import { type Dialect, openParameters } from '../dialect.ts'
import { positionId } from '../position.ts'
import { bytes, isTrue, type NamedRow, optionalText, text, whole } from '../row.ts'
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

/** The rows after one key and up to another, in the order of their table, without some. */
export type RowRange = {
  readonly after: RowKey | undefined
  readonly until: RowKey
  readonly rowsMax: number
  readonly except: readonly Uint8Array[]
}

/**
 * A row beside the records that is not what they derive: a unique claim, a term of the index, or
 * the number of live records of a customer. A `contested` value is one that records of two
 * customers have; the claim, if there is one, is that of the customer `holder`.
 */
export type DerivedFault = {
  readonly kind: string
  readonly customer: bigint
  readonly customerId: string
} & (
  | {
      readonly fault: 'unclaimed' | 'contested'
      readonly id: string
      readonly member: string
      /** Never shown: it may be an address. */
      readonly value: string
      readonly holder: string | undefined
    }
  | {
      readonly fault: 'claimed without a record'
      readonly member: string
      readonly value: string
    }
  | { readonly fault: 'terms missing'; readonly id: string; readonly position: Uint8Array }
  | { readonly fault: 'a term left over'; readonly id: string; readonly term: TermKey }
  | { readonly fault: 'miscounted'; readonly kept: number; readonly counted: number }
)

/** What the store keeps of the records of a kind of a customer. Each change makes another state. */
export type Kept = { readonly live: number; readonly state: string }

type TermKey = {
  readonly term: string
  readonly scope: bigint
  readonly sort: string
  readonly position: Uint8Array
}

/** Compares what is stored beside the records with them, a bounded part at a time. */
export type DerivedRows = {
  /** What the records of a range lack, or have in vain. */
  missing(resource: Resource, range: RowRange): Promise<readonly DerivedFault[]>
  /** What is left over of records that are gone, so many rows together. */
  leftOver(resource: Resource, rowsMax: () => number): AsyncIterable<readonly DerivedFault[]>
  /** What is kept of a customer now. */
  kept(resource: Resource, customer: bigint): Promise<Kept>
}

export function derivedRows({ rows }: Reads, dialect: Dialect): DerivedRows {
  const statements = compareStatements(dialect)
  /** Values that nobody claims, and that records of several customers have. */
  const shared = async (resource: Resource, values: readonly ValueFault[]) => {
    const free = values.filter(({ holder }) => holder === undefined)
    if (free.length === 0) return new Set()
    const { from, values: parameters } = letGoList(dialect, free)
    const found = await rows({ text: statements.shared(resource, from), values: parameters })
    return new Set(found.map(nameOf))
  }
  const unclaimed = async (resource: Resource, range: Range): Promise<readonly DerivedFault[]> => {
    const found = await rows({ text: statements.unclaimed(resource, range), values: range.values })
    const faults = found.map((row) => readUnclaimed(resource, row))
    const several = await shared(resource, faults)
    return faults.map((one) => (several.has(nameOf(one)) ? { ...one, fault: 'contested' } : one))
  }
  const withoutTerms = async (
    resource: Resource,
    range: Range,
  ): Promise<readonly DerivedFault[]> => {
    if (resource.terms === undefined) return []
    const asked = { text: statements.withoutTerms(resource, range), values: range.values }
    return (await rows(asked)).map((row) => {
      const position = bytes(row, 'position')
      const id = positionId(position)
      return { ...ownerIn(resource, row), fault: 'terms missing', id, position }
    })
  }
  async function* claimsLeftOver(resource: Resource, rowsMax: () => number): Parts {
    for (let after: string | undefined = ''; after !== undefined; ) {
      const asked = { text: statements.endOfClaims(rowsMax()), values: [after] }
      const [last]: readonly NamedRow[] = await rows(asked)
      const until: string | undefined = last && text(last, 'value')
      const found = await rows({
        text: statements.claimsLeftOver(resource, until !== undefined),
        values: until === undefined ? [after] : [after, until],
      })
      yield found.map((row) => ({
        ...ownerIn(resource, row),
        fault: 'claimed without a record',
        member: text(row, 'member'),
        value: text(row, 'value'),
      }))
      after = until
    }
  }
  async function* termsLeftOver(resource: Resource, rowsMax: () => number): Parts {
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
      const part = { letter, rowsMax: rowsMax() }
      // The caller removes what is found, and the end of the part must not move by that.
      const [last]: readonly NamedRow[] = await rows({ text: statements.endOfTerms(part), values })
      const found = await rows({ text: statements.termsLeftOver(resource, part), values })
      yield found.map((row) => {
        const term = readTerm(row)
        const id = positionId(term.position)
        return { ...ownerIn(resource, row), fault: 'a term left over', id, term }
      })
      after = last && readTerm(last)
    }
  }
  /** Counts of customers that have no record. The others are compared with their rows. */
  async function* countsLeftOver(resource: Resource, rowsMax: () => number): Parts {
    for (let after: readonly Value[] | undefined = [0n, '']; after !== undefined; ) {
      const max = rowsMax()
      const query = statements.countsLeftOver(resource, max)
      const found: readonly NamedRow[] = await rows({ text: query, values: after })
      yield found
        .filter((row) => isTrue(row.is_wrong))
        .map((row) => {
          const kept = Number(whole(row, 'live'))
          return { ...ownerIn(resource, row), fault: 'miscounted', kept, counted: 0 }
        })
      const last = found.at(-1)
      const isLast = last === undefined || found.length < max
      after = isLast ? undefined : [whole(last, 'customer'), text(last, 'kind')]
    }
  }
  return {
    missing: async (resource, between) => {
      const range = rangeOf(dialect, resource, between)
      return [...(await unclaimed(resource, range)), ...(await withoutTerms(resource, range))]
    },
    async *leftOver(resource, rowsMax) {
      yield* claimsLeftOver(resource, rowsMax)
      yield* termsLeftOver(resource, rowsMax)
      yield* countsLeftOver(resource, rowsMax)
    },
    kept: async (resource, customer) => {
      const kept = keptOf(resource, dialect, dialect.parameter(1, 'bigint'))
      const [row] = await rows({ text: `select ${kept} as kept`, values: [customer] })
      return readKept(row)
    },
  }
}

type Parts = AsyncIterable<readonly DerivedFault[]>

type ValueFault = Extract<DerivedFault, { readonly holder: string | undefined }>

/** The rows of a range, as what follows `from`, and the parameters of that. */
type Range = { readonly as: (row: string) => string; readonly values: readonly Value[] }

function rangeOf(
  dialect: Dialect,
  { table }: Resource,
  { after, until, rowsMax, except }: RowRange,
): Range {
  const { add, values } = openParameters(dialect)
  const key = ({ customer, deleted, position }: RowKey) =>
    `(${add(customer, 'bigint')}, ${add(deleted, 'boolean')}, ${add(position, 'bytea')})`
  const columns = '(customer, deleted, position)'
  const isAfter = after === undefined ? '' : `${columns} > ${key(after)} and`
  const isUntil = `${columns} <= ${key(until)}`
  const left = dialect.list(except.map((position) => Buffer.from(position).toString('hex')))
  const isLeft =
    except.length === 0
      ? ''
      : `and not ${dialect.isAnyOf(`lower(${dialect.hex('position')})`, add(left, 'text[]'))}`
  // The order and the limit keep PostgreSQL from a plan for a quarter of the table.
  const from = `(select * from ${dialect.tableName(table)} where ${isAfter} ${isUntil} ${isLeft}
      order by customer, deleted, position limit ${rowsMax})`
  return { as: (row) => `${from} as ${row}`, values }
}

/** Selects what is kept of a kind of a customer, as one text. */
export const keptOf = (
  { kind }: Pick<Resource, 'kind'>,
  { tableName }: Dialect,
  customer: string,
): string => `(select known.live || ' ' || known.changed_at || ' ' || known.salt
      from ${tableName('revision')} as known
      where known.customer = ${customer} and known.kind = '${kind}')`

export function readKept(row: NamedRow | undefined): Kept {
  const state = (row && optionalText(row, 'kept')) ?? ''
  return { live: Number(state.split(' ', 1)[0]), state }
}

type TermPart = { readonly letter: string; readonly rowsMax: number }

function compareStatements(dialect: Dialect) {
  const { tableName, parameter } = dialect
  const held = `${tableName(heldTable)} as held`
  const [first, second] = [parameter(1, 'text'), parameter(2, 'text')]
  const owner = (row: string) =>
    `${row}.customer, ${customerId(dialect, `${row}.customer`)} as customer_id`
  const termKey = 'term, scope, sort, position'
  const termsAfter = ({ letter, rowsMax }: TermPart) => `(select * from ${tableName(termTable)}
      where (${termKey}) > (${first}, ${parameter(2, 'bigint')}, ${parameter(3, 'text')},
        ${parameter(4, 'bytea')}) and term < '${letter}~'
      order by ${termKey} limit ${rowsMax})`
  return {
    unclaimed: (resource: Resource, range: Range) => {
      const brought = selectValues(heldMembers(resource, dialect, 'stored'), {
        from: range.as('stored'),
        where: 'true',
        columns: ['stored.customer', 'stored.position'],
      })
      return `select brought.member, brought.value, brought.position, ${owner('brought')},
          ${customerId(dialect, 'held.customer')} as holder
        from (${brought}) as brought left join ${held} on held.value = brought.value
          and held.kind = '${resource.kind}' and held.member = brought.member
        where held.value is null or held.customer <> brought.customer`
    },
    /** Values of a list that records of several customers have. */
    shared: (resource: Resource, list: string) => `
      select member, value from (${selectHad(resource, dialect, list)}) as had
      group by member, value having count(distinct customer) > 1`,
    withoutTerms: (resource: Resource, range: Range) => `
      select missing.position, ${owner('missing')}
      from (${missingTerms(resource, dialect, range.as('record'))}) as missing`,
    /** Where so many claimed values after one end, of any kind: all kinds have one table. */
    endOfClaims: (rowsMax: number) => `select value from ${held}
      where value > ${first} order by value limit 1 offset ${rowsMax - 1}`,
    claimsLeftOver: (resource: Resource, isBounded: boolean) => `
      select held.member, held.value, ${owner('held')} from ${held}
      where held.value > ${first} ${isBounded ? `and held.value <= ${second}` : ''}
        and held.kind = '${resource.kind}' and not ${isHadByHolder(resource, dialect)}`,
    termsLeftOver: (resource: Resource, part: TermPart) => `
      select term, scope, sort, position, ${owner('held')}
      from ${termsAfter(part)} as held where ${isStray(resource, dialect)}`,
    endOfTerms: (part: TermPart) => `select ${termKey} from ${termsAfter(part)} as part
      order by term desc, scope desc, sort desc, position desc limit 1`,
    /** Of so many rows of any kind: all kinds have one table. PostgreSQL would hash an `exists`. */
    countsLeftOver: ({ kind, table }: Resource, rowsMax: number) => `
      select known.kind, known.live, ${owner('known')},
        known.kind = '${kind}' and known.live <> 0 and (
          select 1 from ${tableName(table)} as record
          where record.customer = known.customer limit 1) is null as is_wrong
      from (select * from ${tableName('revision')}
        where (customer, kind) > (${parameter(1, 'bigint')}, ${parameter(2, 'text')})
        order by customer, kind limit ${rowsMax}) as known
      order by known.customer, known.kind`,
  }
}

const nameOf = ({ member, value }: NamedRow): string => JSON.stringify([member, value])

const ownerIn = ({ kind }: Resource, row: NamedRow) => ({
  kind,
  customer: whole(row, 'customer'),
  // A damaged row may have the number of no customer.
  customerId: optionalText(row, 'customer_id') ?? '',
})

function readUnclaimed(resource: Resource, row: NamedRow): ValueFault {
  const holder = optionalText(row, 'holder')
  return {
    ...ownerIn(resource, row),
    fault: holder === undefined ? 'unclaimed' : 'contested',
    id: positionId(bytes(row, 'position')),
    member: text(row, 'member'),
    value: text(row, 'value'),
    holder,
  }
}

const readTerm = (row: NamedRow): TermKey => ({
  term: text(row, 'term'),
  scope: whole(row, 'scope'),
  sort: text(row, 'sort'),
  position: bytes(row, 'position'),
})
