import { limits } from '@bursar/base'

type Limits = Partial<Record<keyof typeof limits, number>>

/**
 * Sets limits for one test that is about them, or for a file with the `after` of `node:test`. Only
 * what reads a limit at its use follows.
 */
export function setLimits(context: { after(run: () => void): void }, set: Limits): void {
  const before = Object.fromEntries(Object.entries(limits).filter(([name]) => name in set))
  Object.assign(limits, set)
  context.after(() => Object.assign(limits, before))
}
