import { type Check, commandHint, counted, type Finding, printable, systemTime } from '@bursar/base'
import { asTenant } from '@bursar/contract'
import type { Erasure, OperatorRecords, Resealing } from '@bursar/records'
import { cliLimits } from '../limits.ts'
import type { UsingRecords } from './using-records.ts'

type Parts = {
  readonly records: Pick<OperatorRecords, 'resealing' | 'keys' | 'countStoredBefore'>
  readonly erasures: readonly Erasure[]
}

export type SealingDeps = {
  readonly using: UsingRecords<Parts>
}

/** Checks the keys of customers, and what is left to seal or to erase. */
export const sealingCheck = ({ using }: SealingDeps): Check => ({
  name: 'sealing',
  find: () =>
    using(async (parts) => {
      if (parts === undefined) return []
      const { records, erasures } = parts
      return [
        ...(await leftFindings(records.resealing)),
        ...keyFindings(await records.resealing.withoutKey()),
        ...erasureFindings(erasures),
        ...(await putBackFindings(records, erasures)),
      ]
    }),
})

async function leftFindings(resealing: Resealing): Promise<readonly Finding[]> {
  const customers = await resealing.customersLeft()
  if (customers === 0) return []
  const left = await resealing.recordsLeft()
  const records = `${counted(left, 'record')} of ${counted(customers, 'customer')}`
  return [
    {
      what: `${records} may not be sealed with the current key yet`,
      why: 'somebody who has the older key opens them',
      fix: `run ${commandHint('keys reseal')}, which seals them again`,
    },
  ]
}

const keyFindings = (customers: number): readonly Finding[] =>
  customers === 0
    ? []
    : [
        {
          what: `${counted(customers, 'customer')} with fiat accounts or deposit instructions ${customers === 1 ? 'has' : 'have'} no key`,
          why: 'these cannot be opened or compared, and answer 503',
          fix: `restore the store from a backup, or start a new key with ${commandHint('customer new-key ID --yes')} and import their records again`,
        },
      ]

const erasureFindings = (erasures: readonly Erasure[]): readonly Finding[] => {
  const cutOff = erasures.filter(({ endedAt }) => endedAt === undefined)
  if (cutOff.length === 0) return []
  return [
    {
      what: `${counted(cutOff.length, 'erasure')} of a customer ${cutOff.length === 1 ? 'was' : 'were'} cut off`,
      why: 'some of what was to be removed is still there',
      fix: `run ${commandHint('customer erasures')} to see which, then ${commandHint('customer erase ID --yes')} again`,
    },
  ]
}

/** Looks at the customers that were erased last first, as many as there is time for. */
async function putBackFindings(
  { keys, countStoredBefore }: Parts['records'],
  erasures: readonly Erasure[],
): Promise<readonly Finding[]> {
  const ended = erasures.filter(({ endedAt }) => endedAt !== undefined)
  const last = new Map(ended.map(({ customerId, begunAt }) => [customerId, begunAt]))
  const deadline = systemTime.elapsedMs() + cliLimits.doctorCountsMs
  const found: string[] = []
  for (const [customerId, begunAt] of [...last].reverse()) {
    if (systemTime.elapsedMs() > deadline || found.length === PUT_BACK_SHOWN_MAX) break
    const records = await countStoredBefore(customerId, begunAt)
    const keysFound = await keys.find(asTenant(customerId), true)
    const hasKey = keysFound?.hasDestroyed === true
    if (records === 0 && !hasKey) continue
    const key = hasKey ? ' and its destroyed key' : ''
    found.push(
      `${counted(records, 'record')} from before its erasure${key} of ${printable(customerId)}`,
    )
  }
  return found.map((what) => ({
    what: `the store has ${what}`,
    why: 'what was erased is there again, and some of it may be answered',
    fix: `run ${commandHint('customer erase ID --yes')} again (after a restore, ${commandHint('reconcile --erasures FILE')}), and find out who has put it back`,
  }))
}

const PUT_BACK_SHOWN_MAX = 10
