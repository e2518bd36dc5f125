import { counted, type Finding, printable } from '@bursar/base'
import type { Resource } from '@bursar/contract'
import { type Dialect, openParameters } from '../dialect.ts'
import { recordsLimits } from '../limits.ts'
import { type NamedRow, optionalText, text } from '../row.ts'
import { customerId } from '../schema/customers.ts'
import type { Reads } from '../session.ts'

type Owner = { readonly customerId: string; readonly id: string }

/** An address that records of two customers have on one network. The older record holds it. */
export type SharedValue = {
  readonly kind: string
  readonly value: string
  readonly network: string
  readonly holder: Owner
  readonly other: Owner
}

/** The first of them, and how many there are. */
export type SharedValues = { readonly found: readonly SharedValue[]; readonly count: number }

/** Looks at the records alone, so also in a store that does not say yet who holds what. */
export async function findShared(
  { rows }: Reads,
  dialect: Dialect,
  resources: readonly Resource[],
): Promise<SharedValues> {
  const found: SharedValue[] = []
  let count = 0
  for (const resource of resources) {
    if (resource.exclusive === undefined) continue
    const { end, keys, records } = sharedStatements(resource, dialect)
    for (let after: string | undefined = ''; after !== undefined; ) {
      const [last] = await rows(end(after))
      const until: string | undefined = last && text(last, 'exclusive_key')
      const repeated = (await rows(keys(after, until))).map((row) => text(row, 'exclusive_key'))
      const owners = repeated.length === 0 ? [] : await rows(records(repeated))
      const shared = [...Map.groupBy(owners, (row) => text(row, 'exclusive_key')).values()]
      for (const one of shared.flatMap((of) => sharedOf(resource, of))) {
        count += 1
        if (found.length < recordsLimits.faultsReportedMax) found.push(one)
      }
      after = until
    }
  }
  return { found, count }
}

function sharedStatements({ table, exclusive }: Resource, dialect: Dialect) {
  const { tableName, listedId, hex, joined, jsonTexts, jsonMember, isAnyOf, boolean } = dialect
  const [member = '', networks = ''] = [exclusive?.member, exclusive?.networks]
  const from = `from ${tableName(table)} as record`
  const isLive = `record.deleted = ${boolean(false)}`
  return {
    /** Where so many rows after a key end. */
    end: (after: string) => ({
      text: `select exclusive_key ${from} where exclusive_key > ${dialect.parameter(1, 'text')}
        order by exclusive_key limit 1 offset ${recordsLimits.valuesComparedTogether - 1}`,
      values: [after],
    }),
    keys: (after: string, until: string | undefined) => {
      const { add, values } = openParameters(dialect)
      const isAfter = `exclusive_key > ${add(after, 'text')}`
      const isBefore = until === undefined ? '' : `and exclusive_key <= ${add(until, 'text')}`
      return {
        text: `select exclusive_key ${from} where ${isAfter} ${isBefore} and ${isLive}
          group by exclusive_key having count(distinct customer) > 1`,
        values,
      }
    },
    /** Their records, the oldest first. */
    records: (keys: readonly string[]) => ({
      text: `select exclusive_key, ${customerId(dialect, 'record.customer')} as customer_id,
          cast(${listedId.of('record')} as text) as id, ${jsonMember('record.body', member)} as value,
          (select ${joined('network.value', ' ')}
            from ${jsonTexts('record.body', networks, 'network')}) as networks
        ${from} where ${isAnyOf('exclusive_key', dialect.parameter(1, 'text[]'))} and ${isLive}
        order by exclusive_key, ${hex('record.position')}`,
      values: [dialect.list(keys)],
    }),
  }
}

/** What the records with one value share, of which the oldest comes first. */
function sharedOf({ kind }: Resource, owners: readonly NamedRow[]): readonly SharedValue[] {
  const holders = new Map<string, Owner>()
  return owners.flatMap((row) => {
    const own = { customerId: text(row, 'customer_id'), id: text(row, 'id') }
    const networks = optionalText(row, 'networks')?.split(' ') ?? []
    return networks.flatMap((network) => {
      const holder = holders.get(network) ?? own
      holders.set(network, holder)
      if (holder.customerId === own.customerId) return []
      return { kind, network, value: text(row, 'value'), holder, other: own }
    })
  })
}

/** Says of each value whose it is. */
export const describeShared = ({ kind, value, network, holder, other }: SharedValue): string =>
  `${kind}: ${printable(value)} on ${network} is held by ${shown(holder)}, and ${shown(other)} has it too`

const shown = ({ customerId, id }: Owner): string =>
  `${printable(id)} of customer "${printable(customerId)}"`

/** What `doctor` says of them. */
export function sharedFindings({ found, count }: SharedValues): readonly Finding[] {
  const rest = count - found.length
  const more = rest === 0 ? '' : `; so has ${counted(rest, 'other record')}`
  if (count === 0) return []
  return [
    {
      what: `records of two customers have one address: ${found.map(describeShared).join('; ')}${more}`,
      why: 'a deposit there has two owners; the older record holds the address, and the other one can only be read, or changed so that it lacks the address',
      fix: 'take the network out of compatible_crypto_networks of the record that is wrong, or withdraw it',
    },
  ]
}
