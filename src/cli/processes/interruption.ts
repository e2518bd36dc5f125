import { constants } from 'node:os'
import type { Output } from '../output.ts'

/** Ctrl-C and SIGTERM during an import. */
export type Interruption = {
  /** What to do before the process ends, such as showing the cursor again. */
  beforeExit(tidy: () => void): void
  /** From here on the store may change, so the first signal only tells the operator to wait. */
  readonly changesBegin: () => void
  readonly close: () => void
}

/** Not SIGHUP: a handler would undo `nohup`. */
const signals = ['SIGINT', 'SIGTERM'] as const

/** Ends the process at a signal, says what has changed, and exits as shells expect: 130 or 143. */
export function openInterruption({ tell }: Pick<Output, 'tell'>): Interruption {
  let tidy = () => {}
  let state: 'unchanged' | 'changing' | 'stopping' = 'unchanged'
  const onSignal = (signal: NodeJS.Signals) => {
    tidy()
    if (state === 'changing') {
      state = 'stopping'
      tell('the records are being stored, all or none; wait, or send the signal again')
      return
    }
    tell(
      state === 'unchanged'
        ? `stopped by ${signal}; nothing was changed`
        : `stopped by ${signal} while the records were being stored; all of them are stored, or none. The same import again changes nothing where they are.`,
    )
    process.exit(128 + constants.signals[signal])
  }
  for (const signal of signals) process.on(signal, onSignal)
  return {
    beforeExit: (work) => {
      tidy = work
    },
    changesBegin: () => {
      state = 'changing'
    },
    close: () => {
      for (const signal of signals) process.off(signal, onSignal)
    },
  }
}
