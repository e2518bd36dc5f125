import { type Item, idOf, memberOf, pathIdOf } from '../json.ts'
import { depositAddresses, type List } from '../lists.ts'
import { itHas } from '../session.ts'
import type { FaultKind } from '../shapes/shape.ts'
import type { Statement } from '../statement.ts'
import { hold, need } from '../verdicts.ts'
import { forSingleReads } from './problems.ts'

/** The values of records, as clients with strict decoders read them. */
export const valueStatements: readonly Statement[] = [
  ofKind('members', 'Every record has its required members, each of its type.'),
  ofKind('enums', 'Every status, network and other enum has a value of the contract.'),
  ofKind(
    'timestamps',
    'Every timestamp is RFC 3339 in UTC with the fewest fraction digits.',
    'bursar',
  ),
  ofKind('amounts', 'Every amount is a decimal string.'),
  ofKind(
    'identifiers',
    'Every record id is a UUID in lower case, every memo_id 16 characters.',
    'bursar',
  ),
  ofKind('metadata', 'Metadata maps strings to strings, within the limits of its kind.'),
  {
    id: 'values.alone',
    says: 'Records that are read alone have the values of the contract too.',
    source: 'contract',
    check: async ({ session }) =>
      forSingleReads(session, async ({ list }) => {
        const { items } = await session.sample(list)
        need(items.length > 0, itHas(items))
        for (const item of items.slice(0, 3)) {
          const alone = await session.call(`${list.path}/${pathIdOf(item)}`)
          need(alone.status === 200, `it answers HTTP ${alone.status}`)
          const found = list
            .shape(alone.body, 'body')
            .filter(({ kind }) => kind !== 'unknown members')
          hold(found.length === 0, found[0]?.says ?? '', alone)
        }
      }),
  },
  {
    id: 'values.networks',
    says: 'compatible_crypto_networks holds crypto_network.',
    source: 'bursar',
    lists: [depositAddresses],
    checkList: async ({ session }, list) => {
      const { exchange, items } = await session.sample(list)
      need(items.length > 0, itHas(items))
      for (const item of items) {
        const compatible = memberOf(item, 'compatible_crypto_networks')
        const holds =
          Array.isArray(compatible) && compatible.includes(memberOf(item, 'crypto_network'))
        hold(holds, `${idOf(item)} lacks its own network`, exchange)
      }
    },
  },
]

function ofKind(
  kind: FaultKind,
  says: string,
  source: Statement['source'] = 'contract',
): Statement {
  return {
    id: `values.${kind}`,
    says,
    source,
    checkList: async ({ session }, list) => {
      const { exchange, items } = await session.sample(list)
      need(items.length > 0, itHas(items))
      for (const [at, item] of items.entries()) {
        const found = list.shape(item, `${list.envelope}[${at}]`).filter((one) => one.kind === kind)
        hold(found.length === 0, found[0]?.says ?? '', exchange)
      }
      return kind === 'members' ? additionsTo(items, list) : undefined
    },
  }
}

/** Members beyond the contract are legal, since it only grows. The report names them. */
function additionsTo(items: readonly Item[], list: List): string | undefined {
  const found = items.flatMap((item) => list.shape(item, 'item'))
  const unknown = found.filter(({ kind }) => kind === 'unknown members')
  const names = [...new Set(unknown.map(({ says }) => says))]
  return names.length === 0 ? undefined : names.slice(0, 10).join('; ')
}
