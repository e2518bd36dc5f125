import type { Resource } from '@bursar/contract'
import type { Dialect } from '../dialect.ts'
import type { Statement } from '../session.ts'
import { heldTable } from './tables.ts'

/**
 * Creates the table of the values that one customer holds: ids, memos, and addresses on each
 * network where they receive. By its primary key a merge waits for another one that brings the same
 * value, until that has committed. No value is longer than a digest would be.
 */
export const createHeldTable = ({ types, tableName, tableOptions, protect }: Dialect): string => `
create table ${tableName(heldTable)} (
  value ${types.key} not null,             -- of an address, its digest
  kind ${types.key} not null,
  member ${types.key} not null,            -- id, a member of the record, or the network of an address
  customer ${types.customer} not null,
  -- The value comes first: a plan that was made for few rows must not pass all of one member.
  primary key (value, kind, member)
)${tableOptions};
${protect(heldTable, 'customer')}`

type HeldMember = {
  /** Expressions of text: which value of the record it is, and the value. */
  readonly member: string
  readonly value: string
  /** Further rows that these expressions take, as what follows `from`. */
  readonly rows: string
  /** Whether the record has it. */
  readonly isHeld: string
  /** Whether the staged version of the record `stored` has the value too, apart from its end. */
  readonly isKept: string
  /** Whether a row of `unique_claim`, or one like it, names such a value. */
  readonly isNamed: (row: string) => string
  /** Finds the rows `stored` that have the value of such a row, by an index. */
  readonly index: string
  readonly hasValue: (row: string) => string
}

/** The values of a row `staged`, or of a stored row with another name. */
export function heldMembers(
  resource: Resource,
  dialect: Dialect,
  row: string,
): readonly HeldMember[] {
  const { table, uniqueMembers, exclusive } = resource
  const { listedId, jsonTexts, types } = dialect
  const isStaged = row === 'staged'
  const isLive = `${row}.deleted_at is null`
  const named = ['id', ...uniqueMembers]
  const members: HeldMember[] = [
    {
      member: `'id'`,
      value: `cast(${isStaged ? 'staged.id' : listedId.of(row)} as text)`,
      rows: '',
      isHeld: isStaged ? 'staged.id_taken = 0' : `${row}.id_taken = false`,
      isKept: 'true',
      isNamed: (held) => `${held}.member = 'id'`,
      index: `${table}_by_id`,
      hasValue: (held) =>
        `${listedId.is('stored', `cast(${held}.value as ${types.id})`)}
          and stored.stored_at >= 0 and stored.id_taken = false`,
    },
    ...uniqueMembers.map(
      (member): HeldMember => ({
        member: `'${member}'`,
        value: `${row}.${member}`,
        rows: '',
        isHeld: `${isLive} and ${row}.${member} is not null`,
        isKept: `staged.${member} = ${row}.${member}`,
        isNamed: (held) => `${held}.member = '${member}'`,
        index: `${table}_${member}_identity`,
        hasValue: (held) =>
          `stored.${member} = ${held}.value and stored.stored_at >= 0 and stored.deleted = false`,
      }),
    ),
  ]
  if (exclusive === undefined) return members
  const networksOf = (body: string, name = 'network') => jsonTexts(body, exclusive.networks, name)
  members.push({
    member: 'network.value',
    value: `${row}.exclusive_key`,
    rows: `cross join ${networksOf(isStaged ? 'staged.full_body' : `${row}.body`)}`,
    isHeld: isLive,
    isKept: `staged.exclusive_key = ${row}.exclusive_key and network.value in (
        select kept.value from ${networksOf('staged.full_body', 'kept')})`,
    isNamed: (held) => `${held}.member not in ('${named.join(`', '`)}')`,
    index: `${table}_by_exclusive_key`,
    hasValue: (held) =>
      `stored.exclusive_key = ${held}.value and stored.deleted = false
          and ${held}.member in (select network.value from ${networksOf('stored.body')})`,
  })
  return members
}

type Rows = {
  /** What follows `from`, and its condition. */
  readonly from: string
  readonly where: string
  /** What each value comes with. */
  readonly columns: readonly string[]
}

/** Selects the member and the value of each value of rows. */
export const selectValues = (
  members: readonly HeldMember[],
  { from, where, columns }: Rows,
): string =>
  members
    .map(
      ({ member, value, rows, isHeld }) => `
      select ${[`${member} as member`, `${value} as value`, ...columns].join(', ')}
      from ${from} ${rows} where ${where} and ${isHeld}`,
    )
    .join(' union all ')

/** Stores who holds values, for rows with a member, a value and a customer. A holder stays one. */
export const holdValues = (
  { kind }: Resource,
  { tableName }: Dialect,
  rows: string,
  order: string,
): string => `
  insert into ${tableName(heldTable)} (value, kind, member, customer)
  select value, '${kind}', member, customer from (${rows}) as brought where true
  order by ${order} on conflict (value, kind, member) do nothing`

/** Rows of values that may not be held any more. */
const LET_GO = 'let_go'

/**
 * Ends the holds of a list of values, which is what follows `from` and is named `let_go`, where no
 * stored record of the holder has the value.
 */
export const endHolds = (resource: Resource, dialect: Dialect, list = LET_GO): string => `
  delete from ${dialect.tableName(heldTable)} as held
  where kind = '${resource.kind}'
    and (value, member) in (select value, member from ${list} where value is not null)
    and not ${isHadByHolder(resource, dialect)}`

/** Whether a stored record of the customer of a row of `unique_claim` has its value. */
export function isHadByHolder(resource: Resource, dialect: Dialect): string {
  const { tableName, indexedBy } = dialect
  const isHad = heldMembers(resource, dialect, 'stored').map(
    ({ isNamed, index, hasValue }) => `
      when ${isNamed('held')} then exists (
        select 1 from ${tableName(resource.table)} as stored ${indexedBy(index)}
        where ${hasValue('held')} and stored.customer = held.customer)`,
  )
  return `case ${isHad.join('')} end`
}

/** Gives values of such a list that nobody holds to the oldest stored record that has them. */
export const passOn = (resource: Resource, dialect: Dialect, list = LET_GO): string =>
  holdValues(resource, dialect, selectHad(resource, dialect, list), 'value, member, position')

/** Selects the stored records that have values of such a list. */
export function selectHad(resource: Resource, dialect: Dialect, list = LET_GO): string {
  const { tableName, indexedBy } = dialect
  return heldMembers(resource, dialect, 'stored')
    .map(
      ({ isNamed, index, hasValue }) => `
      select let_go.member, let_go.value, stored.customer, stored.position
      from ${list} cross join ${tableName(resource.table)} as stored ${indexedBy(index)}
      where ${isNamed(LET_GO)} and let_go.value is not null and ${hasValue(LET_GO)}`,
    )
    .join(' union all ')
}

/** Values that a transaction lets go, as lists. */
export type LetGo = readonly { readonly member: string; readonly value: string }[]

/** Such a list, as what follows `from`, and its parameters. */
export const letGoList = ({ unnest, list }: Dialect, gone: LetGo) => ({
  from: unnest(LET_GO, { member: 'text[]', value: 'text[]' }),
  values: [list(gone.map(({ member }) => member)), list(gone.map(({ value }) => value))],
})

/** Ends and passes on what a list of values names, once their records are gone. */
export function letGoStatements(resource: Resource, dialect: Dialect, gone: LetGo): Statement[] {
  if (gone.length === 0) return []
  const { from, values } = letGoList(dialect, gone)
  return [endHolds(resource, dialect, from), passOn(resource, dialect, from)].map((text) => ({
    text,
    values,
  }))
}
