import { setTimeout as passing } from 'node:timers/promises'
import type { Cluster } from './cluster.ts'
import { customers } from './ledger.ts'

/** Generation after generation; one that fails may have come through or not, and is not sent again. */
export function startImports(cluster: Cluster) {
  let stopped = false
  let done = 0
  const run = async () => {
    const first = Math.max(...customers.map(cluster.history.newest)) + 1
    for (let generation = first; !stopped; generation += 1) {
      const report = await cluster.importGeneration(customers, generation).catch(() => undefined)
      if (report?.faultCount === 0) done += 1
      await passing(20)
    }
  }
  const running = run()
  const stop = async () => {
    stopped = true
    await running
    return done
  }
  cluster.running.add(stop)
  return { stop }
}
