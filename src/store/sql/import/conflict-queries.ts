import type { RecordFaultCode } from '../../../contract/fault-codes.ts'
import type { Resource } from '../../../contract/resource.ts'
import type { Dialect } from '../../dialect.ts'
import type { MergeOptions } from '../../records/import.ts'
import { sameRecord } from '../merge-statements.ts'
import { contentColumns } from '../staging.ts'

type Allowed = Pick<MergeOptions, 'allowOlder' | 'takeOver'>

type ConflictQueries = {
  readonly withinFile: (hasRepeats: boolean) => readonly string[]
  readonly withStore: (allowed: Allowed) => readonly string[]
  readonly older: string
}

/**
 * Each query returns a row (line, member, code, reason) for each staged record to refuse. A reason
 * names other lines as `{line 7}`, since only the import knows which file has it.
 */
export function conflictQueries(resource: Resource, dialect: Dialect): ConflictQueries {
  const ownedMembers = resource.exclusive?.members.join(' and ') ?? ''
  return {
    withinFile: (hasRepeats) => [
      ...(hasRepeats ? [repeatedIds(resource)] : []),
      repeatedKey({ member: 'ref_id', key: ['customer_id', 'ref_id'], whose: otherRecord }),
      ...resource.uniqueMembers.map((member) =>
        repeatedKey({ member, key: [member], whose: otherRecord }),
      ),
      ...(resource.exclusive === undefined
        ? []
        : [repeatedKey({ member: ownedMembers, key: ['exclusive_key'], whose: otherCustomer })]),
    ],
    withStore: ({ allowOlder, takeOver }) => [
      ...storedConflicts(resource)
        .filter(({ code }) => takeOver !== true || code !== 'held')
        .map((conflict) => storedConflict(resource, dialect, conflict)),
      ...(allowOlder ? [] : [olderThanStored(resource, dialect)]),
    ],
    older: olderThanStored(resource, dialect),
  }
}

const repeated: RecordFaultCode = 'repeated'
const older: RecordFaultCode = 'older'

/** An id that the file repeats with other content; the first line that has it is not at fault. */
function repeatedIds(resource: Resource): string {
  const differs = [...contentColumns(resource), 'keeps_deletion']
    .map((column) => `later.${column} is distinct from earliest.${column}`)
    .join(' or ')
  return `
    select later.line, 'id' as member, '${repeated}' as code,
      'stands in {line ' || earliest.line || '} too, with other content' as reason
    from (
      select id, min(sequence) as sequence from staged group by id having count(*) > 1
    ) as repeated
    join staged as earliest on earliest.sequence = repeated.sequence
    join staged as later on later.id = repeated.id and later.sequence > repeated.sequence
    where ${differs}`
}

type KeyOwner = { readonly column: 'id' | 'customer_id'; readonly text: string }

const otherRecord: KeyOwner = { column: 'id', text: 'another record' }
const otherCustomer: KeyOwner = { column: 'customer_id', text: "another customer''s record" }

type RepeatedKey = {
  readonly member: string
  readonly key: readonly string[]
  readonly whose: KeyOwner
}

/** A key that records of several owners share within the file. */
const repeatedKey = ({ member, key, whose }: RepeatedKey): string => `
    select staged.line, '${member}' as member, '${repeated}' as code,
      'stands in {line ' || repeated.first_line || '} too, in ${whose.text}' as reason
    from (
      select ${key.join(', ')}, min(line) as first_line, min(sequence) as first_sequence
      from staged where ${key.at(-1)} is not null
      group by ${key.join(', ')} having count(distinct ${whose.column}) > 1
    ) as repeated
    join staged on ${key.map((column) => `staged.${column} = repeated.${column}`).join(' and ')}
    where staged.sequence > repeated.first_sequence`

type StoredConflict = {
  readonly member: string
  readonly code: RecordFaultCode
  /** Whether the member is several. */
  readonly isPlural?: boolean
  /** The holder is the reason where it is left out. */
  readonly reason?: string
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

/** Ignores stored records that the same file replaces. */
const notReplaced = `
      not exists (select 1 from staged as replacement where replacement.id = stored.id)`

function storedConflicts(resource: Resource): readonly StoredConflict[] {
  const { noun, orderBy, uniqueMembers } = resource
  return [
    ...heldConflicts(resource),
    {
      member: orderBy,
      code: 'fixed',
      reason: 'must stay as it was first stored',
      index: 'by_id',
      where: `${sameRecord} and stored.position <> staged.position`,
    },
    {
      member: 'ref_id',
      code: 'taken',
      reason: `is already the ref_id of another ${noun} of this customer`,
      index: 'by_ref_id',
      where: `${sameKey('customer_id', 'ref_id')}
      and stored.id <> staged.id and ${notReplaced}`,
    },
    ...uniqueMembers.map(
      (member): StoredConflict => ({
        member,
        code: 'taken',
        reason: `is already the ${member} of another ${noun} of this customer`,
        index: `${member}_identity`,
        where: `${sameKey(member)} and stored.stored_at >= 0 and ${bothHold}
      and stored.customer_id = staged.customer_id and stored.id <> staged.id and ${notReplaced}`,
      }),
    ),
  ]
}

/** A value that a record of another customer has, which an operator may take over. */
export function heldConflicts({ uniqueMembers, exclusive }: Resource): readonly StoredConflict[] {
  const held = (member: string, index: string, where: string): StoredConflict => ({
    member,
    code: 'held',
    index,
    where: `${where} and stored.customer_id <> staged.customer_id`,
  })
  const ofOther = `${bothHold} and ${notReplaced}`
  return [
    held(
      'id',
      'identity',
      `stored.id = staged.id and stored.stored_at >= 0 and stored.id_taken = false
      and staged.id_taken = 0`,
    ),
    ...uniqueMembers.map((member) =>
      held(
        member,
        `${member}_identity`,
        `${sameKey(member)} and stored.stored_at >= 0 and ${ofOther}`,
      ),
    ),
    ...(exclusive === undefined
      ? []
      : [
          {
            ...held(
              exclusive.members.join(' and '),
              'exclusive_key',
              `${sameKey('exclusive_key')} and ${ofOther}`,
            ),
            isPlural: true,
          },
        ]),
  ]
}

/** The staged records and the stored ones that they conflict with, as what follows `from`. */
export const conflicting = (
  { table }: Resource,
  { tableName, indexedBy }: Pick<Dialect, 'tableName' | 'indexedBy'>,
  { index, where }: Pick<StoredConflict, 'index' | 'where'>,
): string => `
    staged cross join ${tableName(table)} as stored ${indexedBy(`${table}_${index}`)}
    where ${where}`

/** A value that is held has one holder, or several records of one customer. */
function storedConflict(resource: Resource, dialect: Dialect, conflict: StoredConflict): string {
  const { member, code, reason, isPlural = false } = conflict
  const from = conflicting(resource, dialect, conflict)
  if (reason !== undefined) {
    return `
    select distinct staged.line, '${member}' as member, '${code}' as code, '${reason}' as reason
    from ${from}`
  }
  return `
    select staged.line, '${member}' as member, '${code}' as code,
      '${isPlural ? 'are' : 'is'} held by the ${resource.noun} ' || min(cast(stored.id as text)) || ' of customer "'
        || min(stored.customer_id) || '"; --take-over withdraws that record' as reason
    from ${from} group by staged.line`
}

const olderThanStored = ({ table }: Resource, { tableName, indexedBy }: Dialect): string => `
    select staged.line,
      case when stored.source_version is null then 'updated_at' else 'source_version' end as member,
      '${older}' as code,
      'is older than what is stored; --allow-older takes it all the same' as reason
    from staged cross join ${tableName(table)} as stored ${indexedBy(`${table}_by_id`)}
    where ${sameRecord} and case
      when stored.source_version is null then staged.updated_at < stored.updated_at
      else coalesce(staged.source_version, -1) < stored.source_version end`
