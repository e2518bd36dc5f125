import type { Logger } from '../../platform/log.ts'

const exitAtOnce = () => process.exit(1)

/** Resolves at the first SIGTERM or SIGINT. By default a second signal ends the process at once. */
export function untilSignalled(log: Logger, onSecond: () => void = exitAtOnce): Promise<void> {
  return new Promise((resolve) => {
    let isSignalled = false
    const onSignal = (signal: NodeJS.Signals) => {
      if (isSignalled) return onSecond()
      isSignalled = true
      log.info({ signal }, 'shutting down')
      resolve()
    }
    process.on('SIGTERM', onSignal)
    process.on('SIGINT', onSignal)
  })
}

/** Calls `reload` at SIGHUP. */
export function onHangUp(log: Logger, reload: () => void): void {
  process.on('SIGHUP', (signal) => {
    log.info({ signal }, 'reloading configuration')
    reload()
  })
}
