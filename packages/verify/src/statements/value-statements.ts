import { alone, type Check, type Checks, each, eachOf } from '../check-statement.ts'
import type { Judged } from '../client/client-session.ts'
import { depositAddresses } from '../contract.ts'
import { idOf, memberOf, present } from '../json.ts'
import { readAlone } from '../questions/each-record.ts'
import type { FaultKind, ShapeFault } from '../shape.ts'
import { hold, need } from '../verdicts.ts'

const kinds = ['members', 'enums', 'timestamps', 'amounts', 'identifiers', 'metadata'] as const

/** The values of records, as clients with strict decoders read them. */
export const valueStatements: Checks = {
  ...Object.fromEntries(
    kinds.flatMap((kind) => [
      [`values.${kind}`, hasNone(kind, false)],
      [`values.extra-${kind}`, hasNone(kind, true)],
    ]),
  ),
  'values.alone': alone(async ({ session }, { list, shape }) => {
    for (const { alone } of await readAlone(session, list)) {
      need(alone.status === 200, `it answers HTTP ${alone.status}`)
      const [fault] = shape(alone.body, 'body').filter(isStated)
      hold(fault === undefined, fault?.says ?? '', alone)
    }
  }),
  'values.networks': eachOf([depositAddresses], async ({ session }, list) => {
    for (const { item, evidence } of await session.judged(list)) {
      const compatible = memberOf(item, 'compatible_crypto_networks')
      const holds =
        Array.isArray(compatible) && compatible.includes(memberOf(item, 'crypto_network'))
      hold(holds, `${idOf(item)} lacks its own network`, evidence)
    }
  }),
}

const isStated = ({ kind, isExtra }: ShapeFault): boolean =>
  kind !== 'unknown members' && isExtra !== true

/** No record has a fault of a kind, of what the contract states or of what Bursar has settled. */
function hasNone(kind: FaultKind, isExtra: boolean): Check {
  return each(async ({ session }, list) => {
    const judged = await session.judged(list)
    for (const { item, evidence, faults } of judged) {
      const fault = faults.find((one) => one.kind === kind && (one.isExtra === true) === isExtra)
      hold(fault === undefined, `${fault?.says} (${idOf(item) || 'no id'})`, evidence)
    }
    const { stopped } = await session.whole(list)
    const additions = kind === 'members' && !isExtra ? additionsOf(judged) : []
    const notes = [...additions, stopped].filter(present)
    return notes.length === 0 ? undefined : notes.join('; ')
  })
}

/** Members beyond the contract are legal, since it only grows. The report names them. */
function additionsOf(judged: readonly Judged[]): readonly string[] {
  const faults = judged.flatMap((one) => one.faults)
  const unknown = faults.filter(({ kind }) => kind === 'unknown members')
  return [...new Set(unknown.map(({ says }) => says))].slice(0, UNKNOWN_SHOWN)
}

/** How many unknown members a report names. */
const UNKNOWN_SHOWN = 10
