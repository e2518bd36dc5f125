import { counted, systemTime } from '@bursar/base'
import { isWaitCode, waitMeanings } from '@bursar/contract'
import type { OnStep } from '@bursar/records'
import cliProgress from 'cli-progress'
import type { Output } from '../output.ts'

export type Progress = {
  update(records: number): void
  /** Says what an import waits for, where it waits for seconds. */
  readonly enter: OnStep
  stop(): void
}

type Shown = Pick<Progress, 'update' | 'stop'>

type Extent = { readonly bytesTotal: number | undefined; readonly bytesRead: () => number }

const LINE_EVERY_MS = 5000
const WAIT_TOLD_AFTER_MS = 2000

/** Shows a progress bar if stderr is a terminal, else prints a line every five seconds. */
export function openProgress(extent: Extent, { tell }: Pick<Output, 'tell'>): Progress {
  const { update, stop } =
    process.stderr.isTTY && extent.bytesTotal !== undefined
      ? bar(extent.bytesTotal, extent)
      : lines(extent)
  let endWait = () => {}
  return {
    update,
    enter: (step) => {
      endWait()
      endWait = isWaitCode(step)
        ? systemTime.after(WAIT_TOLD_AFTER_MS, () => tell(`waiting: ${waitMeanings[step]}`))
        : () => {}
    },
    stop: () => {
      endWait()
      stop()
    },
  }
}

function bar(bytesTotal: number, { bytesRead }: Extent): Shown {
  const startedAt = systemTime.elapsedMs()
  const single = new cliProgress.SingleBar({
    stream: process.stderr,
    hideCursor: true,
    // It would keep the process running after Ctrl-C; the command handles signals itself.
    gracefulExit: false,
    clearOnComplete: true,
    etaBuffer: 100,
    format: (options, parameters, payload) =>
      `${cliProgress.Format.BarFormat(parameters.progress, options)} ${Math.floor(parameters.progress * 100)} % | ${counted(payload.records, 'record')} | ${payload.rate}/s | ${parameters.eta} s left`,
  })
  single.start(bytesTotal, 0, { records: 0, rate: 0 })
  return {
    update: (records) => {
      // Painting the bar for every record would cost more than the record.
      if (records % 500 !== 0) return
      single.update(bytesRead(), {
        records,
        rate: ratePerSecond(records, systemTime.elapsedMs() - startedAt),
      })
    },
    stop: () => single.stop(),
  }
}

function lines({ bytesTotal, bytesRead }: Extent): Shown {
  const startedAt = systemTime.elapsedMs()
  let toldAt = startedAt
  return {
    update: (records) => {
      const now = systemTime.elapsedMs()
      if (now - toldAt < LINE_EVERY_MS) return
      toldAt = now
      const elapsed = now - startedAt
      const left = timeLeft(bytesTotal, bytesRead(), elapsed)
      process.stderr.write(
        `${counted(records, 'record')} read, ${ratePerSecond(records, elapsed)}/s${left}\n`,
      )
    },
    stop: () => {},
  }
}

const ratePerSecond = (records: number, elapsedMs: number): number =>
  Math.round((records * 1000) / Math.max(0.001, elapsedMs))

function timeLeft(total: number | undefined, read: number, elapsedMs: number): string {
  if (total === undefined || read === 0) return ''
  const secondsLeft = Math.round((elapsedMs / 1000) * (total / read - 1))
  return `, about ${Math.max(0, secondsLeft)} s left`
}
