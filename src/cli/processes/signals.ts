import { isatty } from 'node:tty'
import { limits } from '../../platform/limits.ts'
import type { Logger } from '../../platform/log.ts'

const exitAtOnce = () => process.exit(1)

/**
 * Resolves at the first SIGTERM or SIGINT. By default a second signal ends the process at once.
 * A signal to a process group arrives twice under npm, which also forwards it to its child. So a
 * signal right after the first is the same signal.
 */
export function untilSignalled(log: Logger, onSecond: () => void = exitAtOnce): Promise<void> {
  return new Promise((resolve) => {
    let firstAt: number | undefined
    const onSignal = (signal: NodeJS.Signals) => {
      if (firstAt !== undefined) {
        if (performance.now() - firstAt > limits.signalForwardedMs) onSecond()
        return
      }
      firstAt = performance.now()
      log.info({ signal }, 'shutting down')
      resolve()
    }
    process.on('SIGTERM', onSignal)
    process.on('SIGINT', onSignal)
  })
}

/**
 * Calls `reload` at SIGHUP. A terminal that closes sends it too, and nobody could then stop the
 * process by Ctrl-C. So it ends as at SIGTERM.
 */
export function onHangUp(
  log: Logger,
  reload: () => void,
  message = 'reloading configuration',
): void {
  const hadTerminal = isatty(0)
  process.on('SIGHUP', (signal) => {
    if (hadTerminal && !isatty(0)) {
      process.kill(process.pid, 'SIGTERM')
      return
    }
    log.info({ signal }, message)
    reload()
  })
}
