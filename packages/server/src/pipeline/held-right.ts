import { systemTime } from '@bursar/base'
import type { HeldRight } from '@bursar/contract'
import { serverLimits } from '../limits.ts'
import { revokedToken } from './authenticate.ts'

/** Watches the right to a request while its work goes on. `end` is for after the work. */
export function watchRight(holds: () => boolean): HeldRight & { end(): void } {
  let over: AbortController | undefined
  let cancel = () => {}
  return {
    require: () => {
      if (!holds()) throw revokedToken()
    },
    signal: () => {
      if (over !== undefined) return over.signal
      const watched = new AbortController()
      over = watched
      cancel = systemTime.every(serverLimits.rightCheckedMs, () => {
        if (holds()) return
        cancel()
        watched.abort(revokedToken())
      })
      return watched.signal
    },
    end: () => cancel(),
  }
}
