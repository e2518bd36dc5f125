import type { Logger } from '@bursar/base'

/**
 * A defect that nothing catches is logged before it ends the process. The runtime's own message
 * would wait for a reader of the log that has stopped, and so would the end of the process.
 */
export function logCrashes(log: Logger): void {
  if (log.level === 'silent') return
  process.on('uncaughtException', (err, origin) => {
    log.fatal({ err, origin }, 'the process has a defect and ends')
    process.exit(1)
  })
}
