import type { RecordFaultCode, Resource } from '@bursar/contract'
import type { Dialect } from '../dialect.ts'
import type { MergeOptions } from '../records/import.ts'
import { customerId } from '../schema/customers.ts'
import { heldMembers } from '../schema/held-values.ts'
import { heldTable, isLive } from '../schema/tables.ts'
import { stageStored, storedInFull } from './merge-statements.ts'
import { contentColumns, sameRecord } from './staging.ts'

type Allowed = Pick<MergeOptions, 'allowOlder' | 'takeOver'>

type ConflictQueries = {
  readonly withinFile: (hasRepeats: boolean) => readonly string[]
  readonly withStore: (allowed: Allowed) => readonly string[]
}

/** Each query returns a row for each staged record to refuse, which `readConflict` reads. */
export function conflictQueries(resource: Resource, dialect: Dialect): ConflictQueries {
  return {
    withinFile: (hasRepeats) => [
      ...(hasRepeats ? [repeatedIds(resource)] : []),
      repeatedKey('ref_id', ['customer_id', 'ref_id'], 'id'),
      ...resource.uniqueMembers.map((member) => repeatedKey(member, [member], 'id')),
      ...(resource.exclusive === undefined ? [] : [repeatedAddress(resource, dialect)]),
    ],
    withStore: ({ allowOlder, takeOver }) => [
      ...(takeOver === true ? [] : heldByOthers(resource, dialect)),
      ...storedConflicts(resource, dialect).map((conflict) =>
        storedConflict(resource, dialect, conflict),
      ),
      ...(allowOlder ? [] : [olderThanStored(resource, dialect)]),
    ],
  }
}

/** Members that together belong to one customer. */
export const ownedMembers = ({ exclusive }: Pick<Resource, 'exclusive'>): string =>
  exclusive === undefined ? '' : `${exclusive.network} and ${exclusive.member}`

/** The columns of a conflict; the queries are joined, so each has all of them. */
export const conflictColumns =
  'line, member, code, other_line, holder, holder_customer, value, networks'

type Conflict = {
  readonly line?: string
  /** An expression. */
  readonly member: string
  readonly code: RecordFaultCode
  /** The line of the file that it conflicts with. */
  readonly otherLine?: string
  /** The stored record that it conflicts with, if a reason names it, and its customer. */
  readonly holder?: string
  readonly holderCustomer?: string
  /** The value, and other networks than that of the record, where these have it. */
  readonly value?: string
  readonly networks?: string
}

const selectConflict = ({
  line = 'staged.line',
  member,
  code,
  otherLine = 'cast(null as bigint)',
  holder = 'cast(null as text)',
  holderCustomer = 'cast(null as text)',
  value = 'cast(null as text)',
  networks = 'cast(null as text)',
}: Conflict): string => `
    select ${line} as line, ${member} as member, '${code}' as code, ${otherLine} as other_line,
      ${holder} as holder, ${holderCustomer} as holder_customer,
      ${value} as value, ${networks} as networks`

/** An id that the file repeats with other content; the first line that has it is not at fault. */
function repeatedIds(resource: Resource): string {
  const differs = [...contentColumns(resource), 'keeps_deletion']
    .map((column) => `later.${column} is distinct from earliest.${column}`)
    .join(' or ')
  const conflict = {
    line: 'later.line',
    member: "'id'",
    code: 'repeated',
    otherLine: 'earliest.line',
  } as const
  return `${selectConflict(conflict)}
    from (
      select id, min(sequence) as sequence from staged group by id having count(*) > 1
    ) as repeated
    join staged as earliest on earliest.sequence = repeated.sequence
    join staged as later on later.id = repeated.id and later.sequence > repeated.sequence
    where ${differs}`
}

/**
 * A key that records of several owners share within the file. Most files repeat none, so keys are
 * counted first, by their hashes; to count owners too would sort all lines.
 */
const repeatedKey = (
  member: string,
  key: readonly string[],
  owner: 'id' | 'customer_id',
): string => {
  const columns = key.join(', ')
  return `${selectConflict({ member: `'${member}'`, code: 'repeated', otherLine: 'repeated.first_line' })}
    from (
      select ${columns}, min(line) as first_line, min(sequence) as first_sequence
      from staged_line where (${columns}) in (
        select ${columns} from staged_line where ${key.at(-1)} is not null
        group by ${columns} having count(*) > 1
      )
      group by ${columns} having count(distinct ${owner}) > 1
    ) as repeated
    join staged on ${key.map((column) => `staged.${column} = repeated.${column}`).join(' and ')}
    where staged.sequence > repeated.first_sequence`
}

/** An address that records of several customers have within the file, on one network. */
function repeatedAddress(resource: Resource, dialect: Dialect): string {
  const rows = heldMembers(resource, dialect, 'staged').slice(-1)
  const named = rows.map(
    ({ member, rows: networks, isHeld }) => `
        select staged.*, ${member} as on_network from staged_line as staged ${networks}
        where ${isHeld} and staged.exclusive_key in (
          select exclusive_key from staged_line group by exclusive_key having count(*) > 1)`,
  )
  const conflict = {
    line: 'later.line',
    member: `'${ownedMembers(resource)}'`,
    code: 'repeated',
    otherLine: 'min(repeated.first_line)',
    ...onNetworks(resource, dialect, 'later', 'later.on_network'),
  } as const
  return `${selectConflict(conflict)}
    from (
      select exclusive_key, on_network, min(line) as first_line, min(sequence) as first_sequence
      from (${named.join('')}) as named
      group by exclusive_key, on_network having count(distinct customer_id) > 1
    ) as repeated
    join (${named.join('')}) as later
      on later.exclusive_key = repeated.exclusive_key and later.on_network = repeated.on_network
    where later.sequence > repeated.first_sequence
    group by later.line`
}

/** The value and the networks of a conflict, of lines that are grouped; none on their own one. */
function onNetworks(
  { exclusive }: Resource,
  { joined, jsonMember }: Dialect,
  row: string,
  network: string,
): Pick<Conflict, 'value' | 'networks'> {
  if (exclusive === undefined) return {}
  const isOwn = `case when ${network} = ${row}.${exclusive.network} then 1 else 0 end`
  return {
    value: `min(${jsonMember(`${row}.full_body`, exclusive.member)})`,
    networks: `case when max(${isOwn}) = 0 then ${joined(network, ' ')} end`,
  }
}

type StoredConflict = {
  readonly member: string
  readonly code: RecordFaultCode
  /** The end of the name of the index that finds the stored record. */
  readonly index: string
  readonly where: string
}

/**
 * A stored and a staged record have the same key. Null is no key: to say so keeps PostgreSQL from
 * looking up a null `ref_id`, by a plan that may read every record of its customer.
 */
const sameKey = (...columns: readonly string[]): string => {
  const equal = columns.map((column) => `stored.${column} = staged.${column}`).join(' and ')
  return `${equal} and staged.${columns.at(-1)} is not null`
}

/** A record that is withdrawn holds no memo and no address. */
const bothHold = 'stored.deleted = false and staged.deleted_at is null'

/** Ignores stored records that the same file replaces, or withdraws as it takes their id. */
const notReplaced = (id: string): string => `
      not exists (select 1 from staged as replacement where replacement.id = ${id})`

/** A record that loses its id to another customer's record keeps its `ref_id`. */
const keepsRefId = (id: string): string => `
      not exists (select 1 from staged as replacement
        where replacement.id = ${id} and replacement.customer = stored.customer)`

function storedConflicts(resource: Resource, dialect: Dialect): readonly StoredConflict[] {
  const { orderBy, uniqueMembers } = resource
  const { key, of } = dialect.listedId
  const isOther = `${key('stored')} <> ${key('staged')}`
  return [
    {
      member: orderBy,
      code: 'fixed',
      index: 'by_id',
      where: `${sameRecord(dialect)} and stored.position <> staged.position`,
    },
    {
      member: 'ref_id',
      code: 'taken',
      index: 'by_ref_id',
      where: `${sameKey('customer', 'ref_id')}
      and ${isOther} and ${keepsRefId(of('stored'))}`,
    },
    ...uniqueMembers.map(
      (member): StoredConflict => ({
        member,
        code: 'taken',
        index: `${member}_identity`,
        where: `${sameKey(member)} and stored.stored_at >= 0 and ${bothHold}
      and stored.customer = staged.customer and ${isOther} and ${notReplaced(of('stored'))}`,
      }),
    ),
  ]
}

/** Values that another customer holds. A record that is lost holds its values too. */
function heldByOthers(resource: Resource, dialect: Dialect): readonly string[] {
  const { tableName, indexedBy, listedId } = dialect
  const { kind, table } = resource
  const storedId = listedId.of('stored')
  return heldMembers(resource, dialect, 'staged').map((held) => {
    const [isId, isAddress] = [held.member === `'id'`, held.rows !== '']
    const conflict = {
      member: isAddress ? `'${ownedMembers(resource)}'` : held.member,
      code: 'held',
      holder: `min(cast(${isId ? 'staged.id' : storedId} as text))`,
      holderCustomer: `min(${customerId(dialect, 'held.customer')})`,
      ...(isAddress && onNetworks(resource, dialect, 'staged', 'held.member')),
    } as const
    const stored = `left join ${tableName(table)} as stored ${indexedBy(held.index)}
        on ${held.hasValue('held')} and stored.customer = held.customer`
    return `${selectConflict(conflict)}
    from staged ${held.rows} cross join ${tableName(heldTable)} as held ${isId ? '' : stored}
    where staged.id is not null and ${held.isHeld} and held.kind = '${kind}'
      and held.member = ${held.member} and held.value = ${held.value}
      and held.customer is distinct from staged.customer
      ${isId ? '' : `and (stored.position is null or ${notReplaced(storedId)})`}
      ${isAddress ? `and not ${isStoredAsItIs(resource, dialect)}` : ''}
    group by staged.line`
  })
}

/** Two records that had one value before values were held may stay, but not change and keep it. */
const isStoredAsItIs = ({ table }: Resource, dialect: Dialect): string => `exists (
        select 1 from ${dialect.tableName(table)} as stored ${dialect.indexedBy(`${table}_by_id`)}
        where ${sameRecord(dialect)} and stored.deleted = false and stored.body = staged.full_body
          and stored.updated_at is not distinct from staged.updated_at
          and stored.source_version is not distinct from staged.source_version)`

/** Records of other customers from which an operator may take a value that they have. */
function losers(resource: Resource, dialect: Dialect): readonly StoredConflict[] {
  const { key, of } = dialect.listedId
  const { uniqueMembers, exclusive } = resource
  const isOther = 'stored.customer is distinct from staged.customer'
  const ofOther = `${bothHold} and ${notReplaced(of('stored'))} and ${isOther}`
  const lose = (member: string, index: string, where: string): StoredConflict => ({
    member,
    code: 'held',
    index,
    where,
  })
  return [
    lose(
      'id',
      'by_id',
      `${key('stored')} = ${key('staged')} and ${isLive} and staged.id_taken = 0 and ${isOther}`,
    ),
    ...uniqueMembers.map((member) =>
      lose(
        member,
        `${member}_identity`,
        `${sameKey(member)} and stored.stored_at >= 0 and ${ofOther}`,
      ),
    ),
    ...(exclusive === undefined
      ? []
      : [
          lose(
            ownedMembers(resource),
            'by_exclusive_key',
            `${sameKey('exclusive_key')} and ${ofOther} and exists (
        select 1 from ${dialect.jsonTexts('stored.body', exclusive.networks, 'theirs')}
        where theirs.value in (
          select ours.value from ${dialect.jsonTexts('staged.full_body', exclusive.networks, 'ours')}))`,
          ),
        ]),
  ]
}

/**
 * The staged records and the stored ones that they conflict with, as what follows `from`. Sessions
 * of PostgreSQL that answer requests forbid scans of tables, and then all plans with such a scan
 * look alike. `is not null` lets the planner find the staged records by their index instead.
 */
const conflicting = (
  { table }: Resource,
  { tableName, indexedBy }: Pick<Dialect, 'tableName' | 'indexedBy'>,
  { index, where }: Pick<StoredConflict, 'index' | 'where'>,
): string => `
    staged cross join ${tableName(table)} as stored ${indexedBy(`${table}_${index}`)}
    where staged.id is not null and ${where}`

function storedConflict(resource: Resource, dialect: Dialect, conflict: StoredConflict): string {
  const [line, member] = ['distinct staged.line', `'${conflict.member}'`]
  return `${selectConflict({ line, member, code: conflict.code })}
    from ${conflicting(resource, dialect, conflict)}`
}

const olderThanStored = ({ table }: Resource, dialect: Dialect): string => `${selectConflict({
  member: `case when stored.source_version is null then 'updated_at' else 'source_version' end`,
  code: 'older',
})}
    from staged cross join ${dialect.tableName(table)} as stored ${dialect.indexedBy(`${table}_by_id`)}
    where staged.id is not null and ${sameRecord(dialect)} and case
      when stored.source_version is null then staged.updated_at < stored.updated_at
      else coalesce(staged.source_version, -1) < stored.source_version end`

/**
 * The other customers of which a merge may change something: with `takeOver` those that lose a
 * value, and those of records that have an address which the replaced versions have too.
 */
export function otherCustomers(
  resource: Resource,
  dialect: Dialect,
  takeOver: boolean,
): string | undefined {
  const { tableName, indexedBy } = dialect
  const { table, exclusive } = resource
  const queries = (takeOver ? losers(resource, dialect) : []).map(
    (conflict) => `select stored.customer from ${conflicting(resource, dialect, conflict)}`,
  )
  if (exclusive !== undefined) {
    queries.push(`select also.customer
      from staged cross join ${tableName(table)} as stored ${indexedBy(`${table}_by_id`)}
        cross join ${tableName(table)} as also ${indexedBy(`${table}_by_exclusive_key`)}
      where staged.id is not null and ${sameRecord(dialect)} and stored.deleted = false
        and also.exclusive_key = stored.exclusive_key and also.deleted = false
        and also.customer <> stored.customer`)
  }
  return queries.length === 0 ? undefined : queries.join(' union ')
}

/**
 * Stages the stored records from which the staged ones take an id, an address or a memo, as they
 * are once they are withdrawn. Each has the line that takes its value, the first if there are
 * several. The parameter is the time. It returns a row for each.
 */
export function stageLosers(resource: Resource, dialect: Dialect): string {
  const { of, is } = dialect.listedId
  const taken = losers(resource, dialect).map(
    (conflict) => `
        select stored.customer, ${of('stored')} as id, staged.line, staged.file,
          ${conflict.member === 'id' ? 1 : 0} as loses_id
        from ${conflicting(resource, dialect, conflict)}`,
  )
  const staged = stageStored(resource, dialect, {
    line: 'loser.line',
    file: 'loser.file',
    deletedAt: dialect.parameter(1, 'bigint'),
    idTaken: 'case when stored.id_taken then 1 else loser.loses_id end',
    isLoser: '1',
  })
  const { tables, on } = storedInFull(resource, dialect)
  return `${staged}
      from (
        select customer, id, min(line) as line, min(file) as file, max(loses_id) as loses_id
        from (${taken.join(' union all ')}) as taken group by customer, id
      ) as loser cross join ${tables}
      where stored.customer = loser.customer and ${is('stored', 'loser.id')} and ${on}
      returning line`
}
