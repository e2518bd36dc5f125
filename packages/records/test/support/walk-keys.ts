import type { Store } from '../../src/records.ts'

/** Takes so many steps of a walk, by default until nothing is left. Returns what did not open. */
export async function walkKeys(
  store: Store,
  steps = Number.POSITIVE_INFINITY,
): Promise<readonly string[]> {
  const unopened: string[] = []
  let taken = 0
  for await (const step of store.operator.resealing.walk()) {
    unopened.push(...step.unopened.map(({ id }) => id))
    taken += 1
    if (taken === steps) break
  }
  return unopened
}
