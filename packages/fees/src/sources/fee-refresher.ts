import { isDeepStrictEqual } from 'node:util'
import { type Background, cryptoNetworks } from '@bursar/base'
import type { FeeBasis, LiveCosts } from '../fee-basis.ts'
import type { NetworkPlan } from '../schedule/network-plan.ts'
import type { FeeSchedule } from '../schedule/read-schedule.ts'
import type { FeeSourceDeps } from './fee-event.ts'
import { networkObserver } from './network-observer.ts'
import { priceObserver } from './prices/price-observer.ts'

export type FeeRefresher = {
  /** The basis of a quote made now. Until a node has answered, it holds the schedule alone. */
  current(): FeeBasis
  /** Puts another schedule in force. Observations stay if their settings are unchanged. */
  replaceSchedule(schedule: FeeSchedule, acceptsSample: boolean): void
  /** Cancels every timer and every request under way. */
  close(): void
}

type RefresherDeps = Omit<FeeSourceDeps, 'random'> & {
  readonly schedule: FeeSchedule
  readonly acceptsSample: boolean
  readonly random?: () => number
  readonly background: Background
}

/** Observes each node and price source now and at its own interval. */
export function openFeeRefresher({
  schedule,
  acceptsSample,
  clock,
  report,
  random = Math.random,
  background,
}: RefresherDeps): FeeRefresher {
  const deps: FeeSourceDeps = { clock, report, random }
  let basis: FeeBasis = { schedule, acceptsSample, costs: new Map(), prices: new Map() }

  const start = (): (() => void) => {
    const { networks, priceSources } = basis.schedule
    const abort = new AbortController()
    const plans = cryptoNetworks.map((network) => networks[network])
    const repeaters = plans
      .filter(({ endpoints }) => endpoints.length > 0)
      .map((plan) => {
        const accept = (costs: LiveCosts) => {
          basis = { ...basis, costs: new Map(basis.costs).set(plan.network, costs) }
        }
        const observe = networkObserver(plan, deps, () => basis, accept)
        const how = { of: plan.network, everyMs: plan.refreshSeconds * 1000, firstMs: 0 }
        return background.start('observe-costs', () => observe(abort.signal), how)
      })
    if (priceSources.length > 0) {
      const observe = priceObserver(basis.schedule, deps, (prices) => {
        basis = { ...basis, prices }
      })
      const run = () => observe(abort.signal)
      repeaters.push(background.start('observe-prices', run, { firstMs: 0 }))
    }
    return () => {
      abort.abort()
      for (const repeater of repeaters) repeater.stop()
    }
  }

  let stop = start()
  return {
    current: () => basis,
    replaceSchedule: (schedule, acceptsSample) => {
      stop()
      basis = { ...basisWithout(basis, schedule), schedule, acceptsSample }
      stop = start()
    },
    close: () => stop(),
  }
}

/** Drops the costs and prices that another schedule would observe differently. */
function basisWithout(basis: FeeBasis, schedule: FeeSchedule): FeeBasis {
  const before = basis.schedule
  const costs = [...basis.costs].filter(([network]) =>
    isSamePlan(before.networks[network], schedule.networks[network]),
  )
  const keepsPrices = isDeepStrictEqual(before.priceSources, schedule.priceSources)
  return { ...basis, costs: new Map(costs), prices: keepsPrices ? basis.prices : new Map() }
}

/** Compares the settings that observation depends on; a plan's functions never compare as equal. */
function isSamePlan(before: NetworkPlan, after: NetworkPlan): boolean {
  return (['rates', 'guard', 'endpoints'] as const).every((part) =>
    isDeepStrictEqual(before[part], after[part]),
  )
}
