import type { Statement } from '../check-statement.ts'
import type { Judged } from '../client/client-session.ts'
import { depositAddresses } from '../contract.ts'
import { idOf, memberOf } from '../json.ts'
import { readAlone } from '../questions/read-alone.ts'
import type { FaultKind, ShapeFault } from '../shape.ts'
import { contract, extra, type Source } from '../source.ts'
import { hold, need } from '../verdicts.ts'

/** The values of records, as clients with strict decoders read them. */
export const valueStatements: readonly Statement[] = [
  stated('members', 'Every record has its required members, each of its type.'),
  settled('members', 'Every record has the members that Bursar always answers, none empty.'),
  stated('enums', 'Every status, network and other enum has a value of the contract.'),
  settled('enums', 'Every other vocabulary has a value that Bursar has settled.'),
  stated('timestamps', 'Every timestamp is an RFC 3339 date-time.'),
  settled('timestamps', 'Every timestamp is in UTC with Z and the fewest fraction digits.'),
  stated('amounts', 'Every amount is a decimal string.'),
  settled('amounts', 'No amount but token_principal is negative.'),
  stated('identifiers', 'Every record id is a UUID.'),
  settled('identifiers', 'Every record id is in lower case, every memo_id 16 characters.'),
  stated('metadata', 'Metadata is an object, within the limits of its kind.'),
  settled('metadata', 'Metadata maps strings to strings, at most 50 pairs of 500 characters.'),
  {
    id: 'values.alone',
    says: 'Records that are read alone have the values of the contract too.',
    source: contract('2'),
    checkRead: async ({ session }, { list, shape }) => {
      for (const { alone } of await readAlone(session, list)) {
        need(alone.status === 200, `it answers HTTP ${alone.status}`)
        const [fault] = shape(alone.body, 'body').filter(isStated)
        hold(fault === undefined, fault?.says ?? '', alone)
      }
    },
  },
  {
    id: 'values.networks',
    says: 'compatible_crypto_networks holds crypto_network.',
    source: extra('docs/records.md, “Members of a record”'),
    lists: [depositAddresses],
    checkList: async ({ session }, list) => {
      for (const { item, evidence } of await session.judged(list)) {
        const compatible = memberOf(item, 'compatible_crypto_networks')
        const holds =
          Array.isArray(compatible) && compatible.includes(memberOf(item, 'crypto_network'))
        hold(holds, `${idOf(item)} lacks its own network`, evidence)
      }
    },
  },
]

const isStated = ({ kind, isExtra }: ShapeFault): boolean =>
  kind !== 'unknown members' && isExtra !== true

/** What the contract states of a kind of value. */
function stated(kind: FaultKind, says: string): Statement {
  const of = (fault: ShapeFault) => fault.kind === kind && fault.isExtra !== true
  return shapeStatement(`values.${kind}`, says, contract('2'), of, kind === 'members')
}

/** What Bursar has settled beyond the contract. */
function settled(kind: FaultKind, says: string): Statement {
  const at = extra('docs/records.md, “Members of a record”')
  const of = (fault: ShapeFault) => fault.kind === kind && fault.isExtra === true
  return shapeStatement(`values.extra-${kind}`, says, at, of, false)
}

function shapeStatement(
  id: string,
  says: string,
  source: Source,
  isMeant: (fault: ShapeFault) => boolean,
  namesAdditions: boolean,
): Statement {
  return {
    id,
    says,
    source,
    checkList: async ({ session }, list) => {
      const judged = await session.judged(list)
      for (const { item, evidence, faults } of judged) {
        const [fault] = faults.filter(isMeant)
        hold(fault === undefined, `${fault?.says} (${idOf(item) || 'no id'})`, evidence)
      }
      const { stopped } = await session.whole(list)
      const notes = [...(namesAdditions ? additionsOf(judged) : []), ...(stopped ? [stopped] : [])]
      return notes.length === 0 ? undefined : notes.join('; ')
    },
  }
}

/** Members beyond the contract are legal, since it only grows. The report names them. */
function additionsOf(judged: readonly Judged[]): readonly string[] {
  const faults = judged.flatMap((one) => one.faults)
  const unknown = faults.filter(({ kind }) => kind === 'unknown members')
  return [...new Set(unknown.map(({ says }) => says))].slice(0, UNKNOWN_SHOWN)
}

/** How many unknown members a report names. */
const UNKNOWN_SHOWN = 10
