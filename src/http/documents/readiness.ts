import { describeNetworks } from '../../fees/describe-schedule.ts'
import type { FeeBasis } from '../../fees/fee-basis.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Store } from '../../store/records.ts'
import type { ReadinessCheck } from './health.ts'

type ReadinessDeps = {
  readonly store: Pick<Store, 'ping'>
  readonly credentials: { freshness(): { readonly fresh: boolean; readonly ageMs: number } }
  readonly feeBasis: () => FeeBasis
  readonly clock: Clock
}

export function readinessChecks(deps: ReadinessDeps): ReadinessCheck[] {
  const { store, credentials, feeBasis, clock } = deps
  return [
    {
      name: 'store',
      check: async () => {
        await store.ping()
        return undefined
      },
    },
    {
      name: 'credentials',
      check: async () => {
        const { fresh, ageMs } = credentials.freshness()
        if (!fresh) throw new Error('clients, keys and revoked tokens are too old to decide by')
        return { age_ms: ageMs }
      },
    },
    {
      // Reported and never failed: without a fee for one network everything else is still answered.
      name: 'fees',
      check: async () => ({ networks: feeStates(feeBasis(), clock()) }),
    },
  ]
}

const feeStates = (basis: FeeBasis, now: bigint) =>
  Object.fromEntries(
    describeNetworks(basis, now).map(({ network, source, ageSeconds, cause }) => [
      network,
      { source, age_s: ageSeconds, cause },
    ]),
  )
