import type { Ran } from '@bursar/base'
import { costsInForce, type FeeBasis, type LiveCosts } from '../fee-basis.ts'
import type { NetworkPlan } from '../schedule/network-plan.ts'
import { type CostState, confirmCosts } from './confirmation.ts'
import type { CostSource, FeeSourceDeps } from './fee-event.ts'
import { observeNetwork } from './networks/observe-network.ts'
import { endpointPool } from './nodes/endpoint-pool.ts'
import type { NodeClient } from './nodes/node-client.ts'

/** Until pending costs are confirmed, quotes use the costs before them. */
const confirmationDelayMs = 1_000

/**
 * Returns a run of the job that observes one network. It never rejects. `accept` receives confirmed
 * costs; `basis` is what quotes use now, read to report changes of source once.
 */
export function networkObserver(
  plan: NetworkPlan,
  deps: FeeSourceDeps,
  basis: () => FeeBasis,
  accept: (costs: LiveCosts) => void,
): (stop: AbortSignal) => Promise<Ran> {
  const { network } = plan
  const { clock, random, report } = deps
  const pool = endpointPool(network, plan.endpoints, deps)
  let state: CostState = { accepted: basis().costs.get(network)?.model ?? plan.rates }
  let pendingHost: string | undefined
  let lastSource: CostSource = 'schedule'
  let lastAlarmHost = ''

  const reportAlarms = (alarms: readonly string[], host: string): void => {
    const alarmHost = alarms.length === 0 ? '' : host
    if (alarmHost !== lastAlarmHost) {
      for (const alarm of new Set(alarms)) report({ event: 'figure-cut', network, host, alarm })
    }
    lastAlarmHost = alarmHost
  }

  const reportSource = (): void => {
    const costs = costsInForce(basis(), network, clock())
    const source: CostSource = costs.ok ? costs.source : 'unavailable'
    if (source === lastSource) return
    report({ event: 'source-changed', network, from: lastSource, to: source })
    lastSource = source
  }

  return async (stop) => {
    const observe = (node: NodeClient, signal: AbortSignal) =>
      observeNetwork(node, plan, clock(), signal)
    const answer = await pool.ask(observe, stop, pendingHost)
    if (stop.aborted) return {}
    if (answer !== undefined) {
      const { value, host } = answer
      reportAlarms(value.alarms, host)
      state = confirmCosts(state, value.model)
      pendingHost = state.pending === undefined ? undefined : host
      if (state.pending !== undefined) report({ event: 'figure-held', network, host })
      else accept({ model: state.accepted, host, observedAtMicros: clock() })
    }
    reportSource()
    const isFailed = answer === undefined
    if (pendingHost !== undefined) return { pauseMs: confirmationDelayMs, isFailed }
    return { pauseMs: plan.refreshSeconds * 1_000 * (0.9 + random() / 5), isFailed }
  }
}
