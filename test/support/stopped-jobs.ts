import { type Background, openBackground } from '@bursar/base'
import { hourMs } from './until.ts'

/** Jobs that are not due while a test runs, which starts each run itself. */
export function stoppedJobs(): Background {
  const { start, states } = openBackground()
  const rare = { firstMs: hourMs, everyMs: hourMs }
  return { start: (name, run, how) => start(name, run, { ...how, ...rare }), states }
}
