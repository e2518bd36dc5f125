import { foldAscii, foldText } from '@bursar/base'
import type { Dialect } from '../dialect.ts'
import { PlaceLost, placeDigest } from '../lost-places.ts'
import { termDigestOf } from '../position.ts'
import type {
  CustomerEntry,
  CustomerPlace,
  CustomerRegister,
  CustomerSearch,
  KindOfCustomer,
} from '../records/customer-entries.ts'
import { isTrue, type NamedRow, optionalText, optionalWhole, text, whole } from '../row.ts'
import type { Reads } from '../session.ts'

/**
 * Lists customers in the order of two indexes: by id, then by the terms of names. Each statement
 * reads a bounded number of their entries. A page leaves out customers that were erased, and those
 * that an earlier entry has shown, so it may have fewer than it read.
 */
export function openCustomerList(
  { rows }: Reads,
  dialect: Dialect,
): Pick<CustomerRegister, 'list' | 'find'> {
  const statements = listStatements(dialect)
  const entriesOf = async (found: readonly Found[]): Promise<readonly CustomerEntry[]> => {
    const shown = found.filter(({ isShown }) => isShown).map(({ customer }) => customer)
    if (shown.length === 0) return []
    const values = [dialect.list(shown.map(String))]
    const kept = Map.groupBy(await rows({ text: statements.describe, values }), (row) =>
      whole(row, 'number'),
    )
    return shown.flatMap((customer) => entryOf(kept.get(customer) ?? []))
  }
  return {
    list: async (search) => {
      const read = search.customersMax + 1
      const { after } = search
      const begun = after && (await findPlace(rows, statements, after))
      const isByName = (after?.place ?? 0) > 0
      const byId = isByName ? [] : await findById(rows, statements, search, read)
      const isMore = search.prefix !== '' && byId.length < read
      const byName = isMore
        ? await findByName(rows, statements, { ...search, begun }, read - byId.length)
        : []
      const found = [...byId, ...byName]
      const page = found.slice(0, search.customersMax)
      const last = found.length > page.length ? page.at(-1) : undefined
      return {
        customers: await entriesOf(page),
        next: last && {
          customer: last.customer,
          place: last.place,
          idDigest: placeDigest(last.id),
          termDigest: termDigestOf(last.term),
        },
      }
    },
    find: async (customerId) => {
      const found = await rows({ text: statements.findOne, values: [customerId] })
      const [entry] = await entriesOf(found.map((row) => readFound(row)))
      return entry
    },
  }
}

type Rows = Reads['rows']
type Statements = ReturnType<typeof listStatements>
type Found = Pick<CustomerPlace, 'customer' | 'place'> & {
  readonly id: string
  /** Empty for one that was found by its id. */
  readonly term: string
  readonly isShown: boolean
}

const readFound = (row: NamedRow): Found => ({
  customer: whole(row, 'customer'),
  place: Number(whole(row, 'place')),
  id: text(row, 'id'),
  term: text(row, 'term'),
  isShown: isTrue(row.is_shown),
})

/** No character comes after it, so all texts with a prefix are before the prefix with it. */
const LAST = '\u{10ffff}'
const rangeOf = (prefix: string): readonly [string, string] => [prefix, prefix + LAST]

async function findById(
  rows: Rows,
  statements: Statements,
  { prefix, after }: CustomerSearch,
  rowsMax: number,
): Promise<readonly Found[]> {
  const range = rangeOf(foldAscii(prefix))
  const values = [...range, after?.customer ?? 0n, rowsMax]
  const found = await rows({
    text: after === undefined ? statements.firstById : statements.nextById,
    values,
  })
  return found.map(readFound)
}

/**
 * The term of a place. Empty, which is before every term, if the customer was found by its id or
 * has another name since then.
 */
async function findPlace(
  rows: Rows,
  { findPlace }: Statements,
  { customer, place, idDigest, termDigest }: CustomerPlace,
): Promise<string> {
  const [owner] = await rows({ text: findPlace, values: [customer, place] })
  if (owner === undefined || placeDigest(text(owner, 'id')) !== idDigest) {
    throw new PlaceLost('the customer after which the list goes on is not there any more')
  }
  const term = optionalText(owner, 'term')
  return term !== undefined && termDigestOf(term) === termDigest ? term : ''
}

/** Begins with the term `begun`, after the customer of the place. */
async function findByName(
  rows: Rows,
  statements: Statements,
  { prefix, after, begun = '' }: CustomerSearch & { readonly begun: string | undefined },
  rowsMax: number,
): Promise<readonly Found[]> {
  const folded = foldText(prefix)
  const values = [
    ...rangeOf(folded),
    begun,
    begun === '' ? 0n : (after?.customer ?? 0n),
    ...rangeOf(foldAscii(prefix)),
    rowsMax,
  ]
  return (await rows({ text: statements.byName, values })).map(readFound)
}

export function listStatements({ tableName, parameter, isAnyOf }: Dialect) {
  const names = ['customer', 'customer_name', 'customer_term', 'extent', 'revision', 'kept_since']
  const [customer, name, term, extent, revision, kept] = names.map(tableName)
  const [low, high] = [parameter(1, 'text'), parameter(2, 'text')]
  // An erasure leaves the row of the customer, and nothing of its records.
  const isKept = `exists (select 1 from ${extent} as reached where reached.customer = owner.number)`
  const found = `owner.number as customer, owner.id, 0 as place, '' as term, ${isKept} as is_shown`
  const byId = (after: string) => `
    select ${found} from ${customer} as owner
    where lower(owner.id) >= ${low} and lower(owner.id) < ${high} ${after}
    order by lower(owner.id), owner.number limit ${parameter(4, 'bigint')}`
  const [start, last] = [parameter(3, 'text'), parameter(4, 'bigint')]
  const [idLow, idHigh] = [parameter(5, 'text'), parameter(6, 'text')]
  return {
    firstById: byId(`and owner.number > ${parameter(3, 'bigint')}`),
    nextById: byId(`and (lower(owner.id), owner.number) > (
      (select lower(id) from ${customer} where number = ${parameter(3, 'bigint')}), ${parameter(3, 'bigint')})`),
    findPlace: `select owner.id, named.term from ${customer} as owner
      left join ${term} as named on named.customer = owner.number and named.place = ${parameter(2, 'bigint')}
      where owner.number = ${parameter(1, 'bigint')}`,
    byName: `
      select named.customer, owner.id, named.place, named.term, ${isKept}
        and not (lower(owner.id) >= ${idLow} and lower(owner.id) < ${idHigh})
        and not exists (select 1 from ${term} as earlier where earlier.customer = named.customer
          and earlier.term >= ${low} and earlier.term < named.term) as is_shown
      from (
        select customer, place, term from ${term}
        where term >= ${low} and term < ${high} and (term, customer) > (${start}, ${last})
        order by term, customer limit ${parameter(7, 'bigint')}
      ) as named join ${customer} as owner on owner.number = named.customer
      order by named.term, named.customer`,
    findOne: `select ${found} from ${customer} as owner where owner.id = ${parameter(1, 'text')}`,
    describe: `
      select owner.number, owner.id, named.name, known.kind, known.changed_at, known.live,
        kept.at as kept_since
      from ${customer} as owner
      left join ${name} as named on named.customer = owner.number
      left join ${revision} as known on known.customer = owner.number
      left join ${kept} as kept on kept.customer = known.customer and kept.kind = known.kind
      where ${isAnyOf('owner.number', parameter(1, 'bigint[]'))}`,
  }
}

function entryOf(rows: readonly NamedRow[]): readonly CustomerEntry[] {
  const [first] = rows
  if (first === undefined) return []
  const kinds = rows.flatMap((row): (readonly [string, KindOfCustomer])[] => {
    const kind = optionalText(row, 'kind')
    if (kind === undefined) return []
    const [live, changedAt] = [Number(whole(row, 'live')), whole(row, 'changed_at')]
    return [[kind, { live, changedAt, keptSince: optionalWhole(row, 'kept_since') }]]
  })
  return [{ id: text(first, 'id'), name: optionalText(first, 'name'), kinds: new Map(kinds) }]
}
