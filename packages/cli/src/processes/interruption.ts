import { constants } from 'node:os'
import { limitsOf, systemTime } from '@bursar/base'
import { CommandFailed, type Output } from '../output.ts'

const limits = limitsOf({
  /** How long a command that a signal ends waits for this note in the registry. */
  importNotedMs: 1000,
})

/** Ctrl-C and SIGTERM during an import. */
export type Interruption = {
  /**
   * What to do before the process ends, such as showing the cursor again. `note` is called only
   * where nothing was changed, and the process waits a moment for it.
   */
  beforeExit(tidy: () => void, note: (signal: NodeJS.Signals) => Promise<void>): void
  /** From here on the store may change, so the first signal only tells the operator to wait. */
  readonly changesBegin: () => void
  readonly close: () => void
}

/** Not SIGHUP: a handler would undo `nohup`. */
const signals = ['SIGINT', 'SIGTERM'] as const

/** Ends the process at a signal, says what has changed, and exits as shells expect: 130 or 143. */
export function openInterruption({ tell }: Pick<Output, 'tell'>): Interruption {
  let tidy = () => {}
  let note: (signal: NodeJS.Signals) => Promise<void> = async () => {}
  let state: 'unchanged' | 'changing' | 'stopping' | 'ending' = 'unchanged'
  const onSignal = (signal: NodeJS.Signals) => {
    const exit = () => process.exit(128 + constants.signals[signal])
    if (state === 'ending') exit()
    tidy()
    if (state === 'changing') {
      state = 'stopping'
      tell('the records are being stored, all or none; wait, or send the signal again')
      return
    }
    if (state === 'stopping') {
      tell(
        `stopped by ${signal} while the records were being stored; all of them are stored, or none. The same import again changes nothing where they are.`,
      )
      exit()
    }
    state = 'ending'
    tell(`stopped by ${signal}; nothing was changed`)
    void Promise.race([note(signal), systemTime.pause(limits.importNotedMs)]).finally(exit)
  }
  for (const signal of signals) process.on(signal, onSignal)
  return {
    beforeExit: (work, noting) => {
      tidy = work
      note = noting
    },
    changesBegin: () => {
      // The process ends within a moment, and has said that nothing was changed.
      if (state === 'ending') throw new CommandFailed('stopped by a signal')
      state = 'changing'
    },
    close: () => {
      // A second signal must still find its handler.
      if (state === 'ending') return
      for (const signal of signals) process.off(signal, onSignal)
    },
  }
}
