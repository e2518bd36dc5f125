import { systemTime } from '@bursar/base'
import { describeNetworks, type NetworkState } from '../describe-schedule.ts'
import type { FeeBasis } from '../fee-basis.ts'
import { type Fees, type FeesDeps, openFees } from './open-fees.ts'

/** Enough for two queries of a node a second apart. */
const WAIT_MS = 5000
const WAIT_STEP_MS = 50

/** The fees of a configuration, for a command: it waits for the first answers of the sources. */
export async function observedFees(deps: FeesDeps): Promise<FeeBasis> {
  const fees = openFees(deps)
  try {
    await untilLoaded(fees, deps)
    return fees.current()
  } finally {
    fees.close()
  }
}

async function untilLoaded(fees: Fees, { clock }: Pick<FeesDeps, 'clock'>): Promise<void> {
  for (let waited = 0; waited < WAIT_MS; waited += WAIT_STEP_MS) {
    const basis = fees.current()
    if (silentNetworks(basis, clock()).length === 0 && !arePricesMissing(basis)) return
    await systemTime.pause(WAIT_STEP_MS)
  }
}

/** The networks whose configured nodes have not answered. */
export const silentNetworks = (basis: FeeBasis, now: bigint): readonly NetworkState[] =>
  describeNetworks(basis, now).filter(
    ({ network, source }) =>
      basis.schedule.networks[network].endpoints.length > 0 && source !== 'live',
  )

/** Whether no configured price source has answered. */
export const arePricesMissing = ({ schedule, prices }: FeeBasis): boolean =>
  schedule.priceSources.length > 0 && prices.size === 0
