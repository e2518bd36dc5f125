import { setPriority } from 'node:os'
import { recordRules } from '../../intake/record-rules.ts'
import { importStream } from '../../intake/writer/import-stream.ts'
import type { FromWriter, StreamJob, ToWriter } from '../../intake/writer/stream-job.ts'
import { systemClock } from '../../platform/clock.ts'
import type { Config } from '../../platform/config.ts'
import { limits } from '../../platform/limits.ts'
import { openLog } from '../../platform/log.ts'
import { openWriterStores, type Stores } from '../../stores.ts'

/**
 * The process of a writer. It stores streams, one after the other, that the serving process has
 * received. It ends with the serving process, without which it commits nothing.
 */
export function runStreamWriter(): void {
  setPriority(limits.writerPriority)
  // A signal to the group is for the serving process, which ends this one when it has drained.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {})
  process.once('disconnect', () => process.exit())
  let open: (() => Promise<Opened>) | undefined
  let stopping = new AbortController()
  let commits = Promise.withResolvers<void>()
  const run = async (job: StreamJob): Promise<void> => {
    stopping = new AbortController()
    commits = Promise.withResolvers<void>()
    const answer = await report(job).catch(failureOf)
    process.send?.(answer)
  }
  const report = async (job: StreamJob): Promise<FromWriter> => {
    if (open === undefined) throw new Error('the configuration comes before the first stream')
    const { stores, config, followClock } = await open()
    followClock(job.clockAhead)
    return {
      report: await importStream(job, {
        store: stores.records(),
        rules: recordRules(config),
        signal: stopping.signal,
        tell: (progress) => process.send?.(progress),
        mayCommit: () => commits.promise,
      }),
    }
  }
  process.on('message', (message: ToWriter) => {
    if ('config' in message) open = openingOnce(message.config)
    else if ('job' in message) void run(message.job)
    else if (message.order === 'commit') commits.resolve()
    else stopping.abort(new Error('the stream was ended'))
  })
}

type Opened = {
  readonly stores: Stores
  readonly config: Config
  readonly followClock: (ahead: bigint) => void
}

/** A store that could not be opened is tried again with the next stream. */
function openingOnce(config: Config): () => Promise<Opened> {
  let opened: Promise<Opened> | undefined
  const open = async (): Promise<Opened> => {
    let ahead = 0n
    const clock = () => systemClock() + ahead
    // The serving process logs what it learns of a stream, and of the store.
    const stores = await openWriterStores({ config, clock, log: openLog('silent') })
    const followClock = (given: bigint) => {
      ahead = given
    }
    return { stores, config, followClock }
  }
  return () => {
    opened ??= open().catch((error: unknown) => {
      opened = undefined
      throw error
    })
    return opened
  }
}

/** The class of an error tells the serving process what to answer. */
function failureOf(error: unknown): FromWriter {
  if (!(error instanceof Error)) return { failure: { name: 'Error', message: String(error) } }
  const { message, stack } = error
  return {
    failure: { name: error.constructor.name, message, ...(stack !== undefined && { stack }) },
  }
}
