import { describeNetworks, describeSchedule } from '../../fees/describe-schedule.ts'
import type { FeeBasis } from '../../fees/fee-basis.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Store } from '../../store/records.ts'
import type { ReadinessCheck } from './health.ts'

type ReadinessDeps = {
  readonly store: Pick<Store, 'ping'> & { readonly damage: Pick<Store['damage'], 'found'> }
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
      name: 'integrity',
      check: async () => {
        const damaged = store.damage.found().length
        return damaged === 0 ? undefined : { status: 'failed', damaged }
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
      name: 'fees',
      isOptional: true,
      check: async () => feeStates(feeBasis(), clock()),
    },
  ]
}

/**
 * The source and age of each network's costs, and the assets without a fee with the cause. Prices
 * may be missing where costs are not, so the status counts the assets that can be withdrawn.
 */
function feeStates(basis: FeeBasis, now: bigint) {
  const offered = describeSchedule(basis, now).filter(({ enabled }) => enabled)
  const missing = offered.flatMap(({ network, asset, charge }) =>
    'unavailable' in charge ? [{ network, asset, cause: charge.unavailable }] : [],
  )
  const networks = describeNetworks(basis, now).map(({ network, source, ageSeconds, cause }) => {
    const own = missing.filter((entry) => entry.network === network)
    const without = Object.fromEntries(own.map((entry) => [entry.asset, entry.cause]))
    return [
      network,
      { source, age_s: ageSeconds, cause, ...(own.length > 0 && { without_fee: without }) },
    ] as const
  })
  return {
    status: statusOf(missing.length, offered.length),
    networks: Object.fromEntries(networks),
  }
}

function statusOf(missing: number, offered: number): 'ok' | 'degraded' | 'unavailable' {
  if (missing === offered) return 'unavailable'
  return missing === 0 ? 'ok' : 'degraded'
}
