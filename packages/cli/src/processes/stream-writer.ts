import { setPriority } from 'node:os'
import { type Config, limitsOf, openLog, systemTime } from '@bursar/base'
import {
  type FromWriter,
  importStream,
  type KeysAnswer,
  type KeysRequest,
  recordRules,
  type StreamJob,
  type ToWriter,
} from '@bursar/intake'
import { type CustomerKeySource, StoreUnavailable } from '@bursar/records'
import { openWriterStores, type Stores } from '@bursar/server/stores'

const limits = limitsOf({
  /** The processes that store streams yield to those that answer requests (`nice`). */
  writerPriority: 10,
})

/**
 * The process of a writer. It stores streams, one after the other, that the serving process has
 * received. It ends with the serving process.
 */
export function runStreamWriter(): void {
  setPriority(limits.writerPriority)
  // A signal to the group is for the serving process, which ends this one when it has drained.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {})
  process.once('disconnect', () => process.exit())
  let open: (() => Promise<Opened>) | undefined
  const keys = askForKeys((request) => process.send?.(request))
  const run = async (job: StreamJob): Promise<void> => {
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
        tell: (progress) => process.send?.(progress),
      }),
    }
  }
  process.on('message', (message: ToWriter) => {
    if ('config' in message) open = openingOnce(message.config, keys.source)
    else if ('number' in message) keys.answered(message)
    else void run(message.job)
  })
}

type Opened = {
  readonly stores: Stores
  readonly config: Config
  readonly followClock: (ahead: bigint) => void
}

/** A store that could not be opened is tried again with the next stream. */
function openingOnce(config: Config, customerKeys: CustomerKeySource): () => Promise<Opened> {
  let opened: Promise<Opened> | undefined
  const open = async (): Promise<Opened> => {
    let ahead = 0n
    const clock = () => systemTime.now() + ahead
    // The serving process logs what it learns of a stream, and of the store.
    const stores = await openWriterStores({ config, clock, log: openLog('silent'), customerKeys })
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

/** The keys of customers, as the serving process gives them. */
function askForKeys(ask: (request: KeysRequest) => void) {
  type Asked = PromiseWithResolvers<KeysAnswer>
  const pending = new Map<number, Asked>()
  let number = 0
  const asked = (keysOf: string, how: KeysRequest['how']) => {
    number += 1
    const answer: Asked = Promise.withResolvers()
    pending.set(number, answer)
    ask({ keysOf, how, number })
    return answer.promise
  }
  const keysFrom = (answer: KeysAnswer) => ('keys' in answer ? answer.keys : undefined)
  const source: CustomerKeySource = {
    find: async (customer, isFresh) =>
      keysFrom(await asked(customer, isFresh ? 'find fresh' : 'find')),
    ensure: async (customer) => keysFrom(await asked(customer, 'ensure')) ?? missing(),
    make: async (customer) => {
      const answer = await asked(customer, 'make')
      return 'made' in answer ? answer.made : missing()
    },
    bindingOf: async (customer, bound, keyId) => {
      const answer = await asked(customer, { bound, keyId })
      return 'binding' in answer ? answer.binding : missing()
    },
  }
  return {
    source,
    answered: (answer: KeysAnswer) => {
      const waiting = pending.get(answer.number)
      pending.delete(answer.number)
      if ('failure' in answer) waiting?.reject(new StoreUnavailable(answer.failure))
      else waiting?.resolve(answer)
    },
  }
}

const missing = (): never => {
  throw new StoreUnavailable('the keys of a customer did not arrive')
}

/** The class of an error tells the serving process what to answer. */
function failureOf(error: unknown): FromWriter {
  if (!(error instanceof Error)) return { failure: { name: 'Error', message: String(error) } }
  const { message, stack } = error
  return {
    failure: { name: error.constructor.name, message, ...(stack !== undefined && { stack }) },
  }
}
