import { type Check, type Config, commandHint, counted, type Finding } from '@bursar/base'
import type { Erasure, OperatorRecords } from '@bursar/records'
import type { UsingRecords } from './using-records.ts'

type Parts = {
  readonly records: Pick<OperatorRecords, 'resealing'>
  readonly erasures: readonly Erasure[]
}

export type SealingDeps = {
  readonly config: Config
  readonly using: UsingRecords<Parts>
}

/** Checks the keys of customers, and what is left to seal or to erase. */
export const sealingCheck = ({ config, using }: SealingDeps): Check => ({
  name: 'sealing',
  find: () =>
    using(async (parts) => {
      if (parts === undefined) return []
      const { records, erasures } = parts
      return [
        ...leftFindings(config, await records.resealing.left()),
        ...keyFindings(await records.resealing.withoutKey()),
        ...erasureFindings(erasures),
      ]
    }),
})

function leftFindings(
  { seal }: Config,
  { customers, bodies }: { readonly customers: number; readonly bodies: number },
): readonly Finding[] {
  if (customers === 0) return []
  const records = `${counted(bodies, 'full record')} of ${counted(customers, 'customer')}`
  return [
    {
      what: seal
        ? `${records} may not be sealed with the current key yet`
        : `${records} may still be sealed, although BURSAR_SEAL is false`,
      why: seal
        ? 'a copy of the store may show their account numbers, or needs an older key'
        : 'they need the keys of their customers until they are in clear',
      fix: 'leave a server with the operator’s rights running, which brings them to that form, then run doctor again',
    },
  ]
}

const keyFindings = (customers: number): readonly Finding[] =>
  customers === 0
    ? []
    : [
        {
          what: `${counted(customers, 'customer')} with fiat accounts ${customers === 1 ? 'has' : 'have'} no key`,
          why: 'their full records cannot be opened, and answer 503',
          fix: 'restore the store from a backup',
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
