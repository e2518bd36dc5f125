import { isDeepStrictEqual } from 'node:util'
import { type CryptoNetwork, cryptoNetworks } from '../../values/network.ts'
import type { FeeBasis, LiveCosts } from '../fee-basis.ts'
import type { FeeSchedule } from '../schedule/fee-schedule.ts'
import type { NetworkPlan } from '../schedule/network-plan.ts'
import type { FeeEvent, LookingGlass } from './fee-event.ts'
import { networkWatch } from './network-watch.ts'
import { priceWatch } from './prices/price-watch.ts'

/** Runs something later; gives what calls it off. A timer must not keep the process alive. */
export type Later = (delayMs: number, run: () => void) => () => void

export type RefresherInput = {
  readonly schedule: FeeSchedule
  /** The operator takes the sample schedule as good enough to charge by. */
  readonly acceptsSample: boolean
  readonly clock: () => bigint
  readonly report: (event: FeeEvent) => void
  readonly random?: () => number
  readonly later?: Later
}

type Watch = { readonly look: (stop: AbortSignal) => Promise<number> }

const systemLater: Later = (delayMs, run) => {
  const timer = setTimeout(run, delayMs)
  timer.unref()
  return () => clearTimeout(timer)
}

/**
 * Keeps what quotes read. Owns one timer for each network with a node and one for the prices; nothing it does
 * ever rejects or throws, and without a node it does nothing at all.
 */
export class FeeRefresher {
  readonly #glass: LookingGlass
  readonly #later: Later
  #basis: FeeBasis
  #watches: ReadonlyMap<CryptoNetwork | 'prices', Watch>
  #round: AbortController | undefined
  #cancels = new Map<CryptoNetwork | 'prices', () => void>()

  constructor(input: RefresherInput) {
    const { schedule, acceptsSample, clock, report, random = Math.random } = input
    this.#glass = { clock, report, random }
    this.#later = input.later ?? systemLater
    this.#basis = { schedule, acceptsSample, costs: new Map(), prices: new Map() }
    this.#watches = this.#openWatches()
  }

  /** What a quote reads now; ready from the first moment, by the schedule. */
  current(): FeeBasis {
    return this.#basis
  }

  /** Looks at every node at once and then at each one's own pace. A second call changes nothing. */
  start(): void {
    if (this.#round !== undefined) return
    const round = new AbortController()
    this.#round = round
    for (const [name, watch] of this.#watches) this.#schedule(name, watch, 0, round.signal)
  }

  /** Calls off every timer and every request under way. */
  stop(): void {
    this.#round?.abort()
    this.#round = undefined
    for (const cancel of this.#cancels.values()) cancel()
    this.#cancels.clear()
  }

  /**
   * Puts another schedule in force at once, as on a reload. Live figures stay where the network's own settings
   * are the same; prices stay where their sources are.
   */
  replaceSchedule(schedule: FeeSchedule, acceptsSample: boolean): void {
    const wasRunning = this.#round !== undefined
    this.stop()
    const { costs, prices, schedule: before } = this.#basis
    const kept = [...costs].filter(([network]) =>
      isSamePlan(before.networks[network], schedule.networks[network]),
    )
    const keepsPrices = isDeepStrictEqual(before.priceSources, schedule.priceSources)
    this.#basis = {
      schedule,
      acceptsSample,
      costs: new Map(kept),
      prices: keepsPrices ? prices : new Map(),
    }
    this.#watches = this.#openWatches()
    if (wasRunning) this.start()
  }

  #openWatches(): ReadonlyMap<CryptoNetwork | 'prices', Watch> {
    const { schedule } = this.#basis
    const watches = new Map<CryptoNetwork | 'prices', Watch>()
    for (const network of cryptoNetworks) {
      const plan = schedule.networks[network]
      if (plan.endpoints.length === 0) continue
      const accept = (live: LiveCosts): void => {
        this.#basis = { ...this.#basis, costs: new Map(this.#basis.costs).set(network, live) }
      }
      watches.set(
        network,
        networkWatch(plan, this.#glass, () => this.#basis, accept),
      )
    }
    if (schedule.priceSources.length > 0) {
      const watch = priceWatch(schedule, this.#glass, (prices) => {
        this.#basis = { ...this.#basis, prices }
      })
      watches.set('prices', watch)
    }
    return watches
  }

  #schedule(
    name: CryptoNetwork | 'prices',
    watch: Watch,
    delayMs: number,
    stop: AbortSignal,
  ): void {
    const run = async (): Promise<void> => {
      const nextMs = await watch.look(stop)
      if (!stop.aborted) this.#schedule(name, watch, nextMs, stop)
    }
    this.#cancels.set(
      name,
      this.#later(delayMs, () => void run()),
    )
  }
}

/** The parts that live figures were made with; a plan's functions never compare as equal. */
function isSamePlan(before: NetworkPlan, after: NetworkPlan): boolean {
  return (['rates', 'guard', 'endpoints'] as const).every((part) =>
    isDeepStrictEqual(before[part], after[part]),
  )
}
