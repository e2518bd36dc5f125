import { type Background, openLog } from '@bursar/base'
import { startRecordWalk } from '@bursar/intake'
import type { Store } from '@bursar/records'
import { turn } from './until.ts'

/** A walk over the records of a store whose steps follow each other without a pause. */
export function openWalk({ damage }: Pick<Store, 'damage'>) {
  const said: string[] = []
  const failures: unknown[] = []
  let isOver = false
  let step: Parameters<Background['start']>[1] = async () => {}
  const log = Object.assign(openLog('silent'), {
    error: ({ what }: { what: string }) => void said.push(what),
    warn: ({ err, what }: { err?: unknown; what?: string }) => {
      if (what === undefined) failures.push(err)
      else said.push(what)
    },
  })
  const background: Background = {
    start: (_name, run) => {
      step = run
      return { runSoon: async () => {}, stop: () => {} }
    },
    states: () => [],
  }
  const noted = {
    ...damage,
    endWalk: (isWhole: boolean) => {
      damage.endWalk(isWhole)
      isOver = true
    },
  }
  startRecordWalk({ damage: noted, log, background })
  return {
    /** What the walk has logged, and its failures, since the start. */
    said,
    failures,
    async round(): Promise<void> {
      for (isOver = false; !isOver; ) {
        await step()
        // On the embedded store nothing else has its turn meanwhile.
        await turn()
      }
    },
  }
}
