import { limitNamed, setLimit } from '@bursar/base'

/**
 * Sets limits for one test that is about them, or for a file with the `after` of `node:test`. Only
 * what reads a limit at its use follows.
 */
export function setLimits(
  context: { after(run: () => void): void },
  set: Readonly<Record<string, number>>,
): void {
  for (const [name, value] of Object.entries(set)) {
    const before = limitNamed(name)
    setLimit(name, value)
    context.after(() => setLimit(name, before))
  }
}
