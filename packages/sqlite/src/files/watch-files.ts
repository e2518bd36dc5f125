import { accessSync, constants, statfsSync } from 'node:fs'
import { type Background, type Logger, limitsOf } from '@bursar/base'
import { StoreDamaged, StoreUnavailable, type StoreWatch } from '@bursar/records'
import type { DamageWatch } from './damage-watch.ts'
import type { OpenedFiles } from './opened-files.ts'
import type { WriteProbe } from './write-probe.ts'

const limits = limitsOf({
  /** Less free space is a full disk: a full batch of quotes and its log have about 1 MiB. */
  storeFreeBytesMin: 4 * 1024 * 1024,
})

export type FileWatch = StoreWatch & { stop(): Promise<void> }

export type FileWatchDeps = {
  readonly files: OpenedFiles
  readonly probe: WriteProbe
  readonly damage: DamageWatch
  readonly log: Logger
  readonly background: Background
}

/**
 * Looks at the files of a store every second, and logs each change of what it finds. The server
 * goes on and answers 503: a supervisor would restart one that ends, over and over, into the
 * refusal to open the store. A notification of the system would miss a mount over the folder.
 */
export function watchFiles({ files, probe, damage, log, background }: FileWatchDeps): FileWatch {
  let isStopped = false
  let probing: Promise<void> | undefined
  let writeFault: string | undefined
  let hasProbed = false
  let lost: string | undefined
  let reported = ''
  let hasConfirmed = false
  const look = (): readonly string[] => {
    const damaged = damage.fault()
    if (damaged !== undefined) return [damaged]
    const fault = files.fault()
    lost = fault && `${fault}; mount its volume or restore it, then restart this server`
    if (lost !== undefined) return [lost]
    return [...files.paths().flatMap(pathFaults), ...(writeFault === undefined ? [] : [writeFault])]
  }
  const report = (faults: readonly string[]) => {
    const reasons = faults.map(withoutFigures).join('\n')
    if (reasons === reported) return
    reported = reasons
    if (faults.length === 0) log.info('the store is ready again')
    else log.error({ reasons: faults }, 'the store is not ready')
  }
  const lookAndReport = (): readonly string[] => {
    const faults = look()
    report(faults)
    return faults
  }
  const requireIntact = () => {
    const damaged = damage.fault()
    if (damaged !== undefined) throw new StoreDamaged(damaged)
    if (lost !== undefined) throw new StoreUnavailable(lost)
  }
  const probeOnce = (): Promise<void> => {
    probing ??= probe().then((fault) => {
      probing = undefined
      hasProbed = true
      const isNews = fault !== writeFault
      writeFault = fault
      if (isNews && !isStopped) lookAndReport()
    })
    return probing
  }
  const { stop } = background.start('check-store-files', async () => {
    lookAndReport()
    // A look does not wait for a lock.
    void probeOnce()
  })
  return {
    requireIntact,
    confirmIntact: () => {
      requireIntact()
      // One commit ends many requests, whose promises resolve one behind the other.
      if (hasConfirmed) return
      if (files.fault() !== undefined) lookAndReport()
      requireIntact()
      hasConfirmed = true
      process.nextTick(() => {
        hasConfirmed = false
      })
    },
    requireReady: async () => {
      if (!hasProbed) await probeOnce()
      const faults = lookAndReport()
      if (faults.length > 0) throw new StoreUnavailable(faults.join('; '))
    },
    noteFailure: damage.noteFailure,
    stop: async () => {
      isStopped = true
      stop()
      await damage.stop()
    },
  }
}

/** Seconds and bytes change at each look, and are no news. */
const withoutFigures = (fault: string): string => fault.replaceAll(/\d+/g, '')

function pathFaults(path: string): readonly string[] {
  try {
    accessSync(path, constants.R_OK | constants.W_OK)
    const { bavail, bsize, blocks } = statfsSync(path, { bigint: true })
    const free = bavail * bsize
    // Some file systems do not tell their size.
    if (blocks === 0n || free >= BigInt(limits.storeFreeBytesMin)) return []
    return [`the disk of ${path} is full: ${free} bytes are free; make room`]
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    return [`${path} cannot be written (${code}); correct its permissions, or remount its volume`]
  }
}
