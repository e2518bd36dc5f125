import { systemTime } from '@bursar/base'

const jobs = new Set<string>()
let isWatched = false

/**
 * Follows what begins again by itself: an interval, or a job of `base/src/schedule.ts`. One that a
 * file leaves behind works, and counts as a timer, beside the tests of every later file.
 */
export function watchJobs(): void {
  if (isWatched) return
  isWatched = true
  const { after, every } = systemTime
  const watch = (cancel: () => void, place: string) => {
    jobs.add(place)
    return () => {
      jobs.delete(place)
      cancel()
    }
  }
  let begun = 0
  const placeOf = () => `${new Error().stack?.split('\n').slice(3, 7).join('\n')} (${begun++})`
  Object.assign(systemTime, {
    every: (ms: number, run: () => void) => watch(every(ms, run), placeOf()),
    after: (ms: number, run: () => void) => {
      const place = placeOf()
      if (!place.includes('base/src/schedule.ts')) return after(ms, run)
      return watch(
        after(ms, () => {
          jobs.delete(place)
          run()
        }),
        place,
      )
    },
  })
}

/** Where the jobs were begun that go on. */
export const openJobs = (): readonly string[] => [...jobs]
