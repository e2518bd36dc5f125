import { costsInForce, type FeeBasis, type LiveCosts } from '../fee-basis.ts'
import type { CostModel } from '../models/cost-model.ts'
import type { NetworkPlan } from '../schedule/network-plan.ts'
import type { CostSource, LookingGlass } from './fee-event.ts'
import { observeNetwork } from './networks/observe-network.ts'
import { endpointPool } from './nodes/endpoint-pool.ts'
import { look, type Standing } from './second-look.ts'

/** A held figure is looked at again soon: until then quotes go by what was in force before. */
const secondLookMs = 1_000

/** Looks at one network's nodes. `look` never rejects; it gives how long to wait before the next. */
export type NetworkWatch = { readonly look: (stop: AbortSignal) => Promise<number> }

/**
 * Watches one network. `accept` is handed the figures that passed every guard; `basis` tells what quotes go by,
 * so that a change from a node to the schedule or back is reported once.
 */
export function networkWatch(
  plan: NetworkPlan,
  glass: LookingGlass,
  basis: () => FeeBasis,
  accept: (costs: LiveCosts) => void,
): NetworkWatch {
  const { network } = plan
  const pool = endpointPool(network, plan.endpoints, glass)
  let standing: Standing = { accepted: basis().costs.get(network)?.model ?? plan.rates }
  let heldHost: string | undefined
  let lastSource: CostSource = 'schedule'
  let lastAlarms = ''

  const take = (model: CostModel, host: string, isHeld: boolean): void => {
    heldHost = isHeld ? host : undefined
    if (isHeld) glass.report({ event: 'figure-held', network, host })
    else accept({ model, host, observedAtMicros: glass.clock() })
  }

  const reportAlarms = (alarms: readonly string[], host: string): void => {
    const told = alarms.length === 0 ? '' : host
    if (told !== lastAlarms) {
      for (const alarm of new Set(alarms))
        glass.report({ event: 'figure-cut', network, host, alarm })
    }
    lastAlarms = told
  }

  const reportSource = (): void => {
    const costs = costsInForce(basis(), network, glass.clock())
    const source: CostSource = costs.ok ? costs.source : 'unavailable'
    if (source !== lastSource) {
      glass.report({ event: 'source-changed', network, from: lastSource, to: source })
    }
    lastSource = source
  }

  return {
    look: async (stop) => {
      const answer = await pool.ask(
        (node, signal) => observeNetwork(node, plan, glass.clock(), signal),
        stop,
        heldHost,
      )
      if (stop.aborted) return 0
      if (answer !== undefined) {
        reportAlarms(answer.value.alarms, answer.host)
        const looked = look(standing, answer.value.model)
        standing = looked
        take(looked.accepted, answer.host, looked.isHeld)
      }
      reportSource()
      if (heldHost !== undefined) return secondLookMs
      return plan.refreshSeconds * 1_000 * (0.9 + glass.random() / 5)
    },
  }
}
