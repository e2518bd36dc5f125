import cluster from 'node:cluster'
import { isatty } from 'node:tty'
import {
  type Background,
  type Config,
  type Logger,
  limitsOf,
  openBackground,
  systemTime,
} from '@bursar/base'

const limits = limitsOf({
  /** npm forwards a signal within milliseconds; a person who insists presses a key again. */
  signalForwardedMs: 500,
})

/** SIGTERM comes from a supervisor, SIGINT from a person, who waits for no load balancer. */
export type EndSignal = 'SIGTERM' | 'SIGINT'

export const lameDuckMsAfter = (signal: EndSignal, { lameDuckMs }: Pick<Config, 'lameDuckMs'>) =>
  signal === 'SIGTERM' ? lameDuckMs : 0

type Signalled = { readonly background?: Background; readonly onSecond?: () => void }

const exitAtOnce = () => process.exit(1)

/**
 * Resolves with the first SIGTERM or SIGINT. By default a second signal ends the process at once.
 * A signal to a process group arrives twice under npm, which also forwards it to its child. So a
 * signal right after the first is the same signal.
 */
export function untilSignalled(
  log: Logger,
  { background = openBackground(), onSecond = exitAtOnce }: Signalled = {},
): Promise<EndSignal> {
  onParentGone(log, background)
  return new Promise((resolve) => {
    let firstAt: number | undefined
    const onSignal = (signal: EndSignal) => {
      if (firstAt !== undefined) {
        if (systemTime.elapsedMs() - firstAt > limits.signalForwardedMs) onSecond()
        return
      }
      firstAt = systemTime.elapsedMs()
      log.info({ signal }, 'shutting down')
      resolve(signal)
    }
    process.on('SIGTERM', onSignal)
    process.on('SIGINT', onSignal)
  })
}

/**
 * Calls `reload` at SIGHUP. A terminal that closes sends it too, and nobody could then stop the
 * process by Ctrl-C. So it ends as at SIGINT.
 */
export function onHangUp(
  log: Logger,
  reload: () => void,
  message = 'reloading configuration',
): void {
  const hadTerminal = isatty(0)
  process.on('SIGHUP', (signal) => {
    if (hadTerminal && !isatty(0)) {
      process.kill(process.pid, 'SIGINT')
      return
    }
    log.info({ signal }, message)
    reload()
  })
}

/** The scripts of package.json, and npx. Each runs the program as npm's own child. */
const scripts = ['start', 'bursar', 'npx']

/**
 * npm cannot forward SIGKILL or SIGHUP, which end it, and neither can the package's command. The
 * server would run on without a parent.
 */
function onParentGone(log: Logger, background: Background): void {
  if (!cluster.isPrimary) return
  if (process.channel !== undefined) {
    process.channel.unref()
    process.once('disconnect', () => {
      log.warn('the parent process was killed, so the server ends too')
      process.kill(process.pid, 'SIGINT')
    })
  }
  if (!scripts.includes(process.env.npm_lifecycle_event ?? '')) return
  const parent = process.ppid
  const watch = background.start('watch-npm', async () => {
    if (process.ppid === parent) return
    watch.stop()
    log.warn('npm was killed, so the server ends too')
    process.kill(process.pid, 'SIGINT')
  })
}
