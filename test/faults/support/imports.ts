import { setTimeout as passing } from 'node:timers/promises'
import type { Deployment } from './cluster.ts'
import { customers } from './ledger.ts'

/** Imports one generation after another. A failed import may have been committed or not. */
export function startImports(cluster: Deployment) {
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
