import type { Logger } from '../platform/log.ts'

const endAtOnce = () => process.exit(1)

/** Resolves at the first SIGTERM or SIGINT; a second one ends the process at once. */
export function untilSignalled(log: Logger, onAnother: () => void = endAtOnce): Promise<void> {
  return new Promise((resolve) => {
    let signalled = false
    const onSignal = (signal: NodeJS.Signals) => {
      if (signalled) return onAnother()
      signalled = true
      log.info({ signal }, 'shutting down')
      resolve()
    }
    process.on('SIGTERM', onSignal)
    process.on('SIGINT', onSignal)
  })
}

/** SIGHUP reads again what may change while the service runs. */
export function onHangUp(log: Logger, reload: () => void): void {
  process.on('SIGHUP', (signal) => {
    log.info({ signal }, 'reading configuration again')
    reload()
  })
}
