import type { Resource } from '../../../contract/resource.ts'
import { ownedMembers } from '../../merge/conflict-queries.ts'
import { dialect } from '../dialect.ts'

const { tableName } = dialect
const claim = tableName('claim')

/** Which values are claimed: those that a stored version lacks, or all of them. */
export type Claimed = 'new' | 'all'

/**
 * Claims, in one sorted statement, the values of staged records that are unique over all customers,
 * and the customers that have no row yet. A transaction that claims one of them too waits for the
 * end of this one, because the primary key must be unique; its later statements then see what this
 * one has stored. All merges sort alike, so none waits in a circle. Two values with one digest only
 * wait for each other.
 *
 * A value is `new` unless the stored version of the same record has it. While the row of its
 * customer is locked, no other record can get such a value.
 */
export function claimValues(resource: Resource, claimed: Claimed): string {
  const digests = broughtBy(resource, claimed).map((value) => digestOf(value))
  return `
  with brought as materialized (
    select ${digests.map((digest, at) => `${digest} as digest_${at}`).join(', ')}
    from staged ${claimed === 'all' ? '' : joinStored(resource)}
    where staged.id is not null
  )
  insert into ${claim} (digest)
  select distinct digest from (
    ${digests.map((_, at) => `select digest_${at} as digest from brought union all`).join(' ')}
    select ${digestOf("'customer ' || customer_id")} from (
      select distinct customer_id from staged where staged.id is not null and customer is null
    ) as added
  ) as brought
  where digest is not null order by digest`
}

const digestOf = (value: string): string => `hashtextextended(${value}, 0)`

const joinStored = ({ table }: Resource): string => `
    left join ${tableName(table)} as stored
      on stored.customer = staged.customer and stored.id = staged.id`

/** Each value with its kind and member; null if it needs no claim. */
function broughtBy(resource: Resource, claimed: Claimed): readonly string[] {
  const { kind, uniqueMembers, exclusive } = resource
  const unless = (isKept: string, value: string) =>
    claimed === 'all' ? value : `case when (${isKept}) is not true then ${value} end`
  // A record that is withdrawn has its id alone.
  const held = (member: string, columns: readonly string[]) => {
    const values = columns.map((column) => ` || ' ' || staged.${column}`).join('')
    const same = columns.map((column) => `stored.${column} = staged.${column}`).join(' and ')
    const value = `case when staged.deleted_at is null then '${kind} ${member}'${values} end`
    return `(${unless(`stored.deleted = false and ${same}`, value)})`
  }
  return [
    `(${unless('stored.id_taken = false', `'${kind} id ' || staged.id`)})`,
    ...uniqueMembers.map((member) => held(member, [member])),
    ...(exclusive === undefined
      ? []
      : [held(ownedMembers(resource), [...exclusive.within, 'exclusive_key'])]),
  ]
}

/** Releases the values of the transaction, before its commit. It sees no others. */
export const releaseValues = `delete from ${claim}`
