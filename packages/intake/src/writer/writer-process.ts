import { type ChildProcess, fork } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { type Config, ConfigError, limitsOf, settings, systemTime } from '@bursar/base'
import { asTenant, contractLimits } from '@bursar/contract'
import {
  type CustomerKeySource,
  ImportCancelled,
  NothingChanged,
  StoreCorrupted,
  StoreDamaged,
  StoreUnavailable,
} from '@bursar/records'
import type { ImportReport } from '../files/import-file.ts'
import {
  type FromWriter,
  type KeysRequest,
  type StreamJob,
  type ToWriter,
  WRITER_WORD,
} from './stream-job.ts'

const limits = limitsOf({
  /**
   * The memory of JavaScript in a writer. It holds some hundred lines at a time, however many come.
   */
  writerMemoryMegabytes: 512,
  /** Sessions of a writer with PostgreSQL: its merge, and reads of what is stored. */
  writerSessionsMax: 2,
  /** A stream that is read is ended after so long a silence of its process. */
  writerSilenceMs: 30_000,
  /** From the last line to the commit: a wait for the lock, and the merge. */
  writerMergeMs: 360_000,
  /** What a process prints before it ends unexpectedly: the first lines of its fault. */
  writerPrintedLengthMax: 2000,
})

/** A process that imports one stream at a time, so that its end harms no other stream. */
export type WriterProcess = {
  /** Imports a stream. The signal kills the process, and the promise rejects with its reason. */
  run(job: StreamJob, signal: AbortSignal): Promise<ImportReport>
  isAlive(): boolean
  /** Kills the process. Resolves when it has ended. */
  kill(): Promise<void>
  readonly pid: number | undefined
  /** How it ended, and the begin of what it has printed. */
  readonly ended: Promise<WriterEnd>
}

export type WriterEnd = {
  readonly how: string
  readonly printed: string
  /** Whether this process has killed it. */
  readonly isOurs: boolean
}

export type WriterOptions = {
  readonly config: Config
  /** The keys of customers, for which a writer asks. */
  readonly keys: CustomerKeySource
  readonly memoryMegabytes?: number
}

/** The program in the repository or, built, in the package. */
function programPath(): string {
  const paths = ['../../../cli/src/main.ts', '../../../main.js'].map((path) =>
    fileURLToPath(new URL(path, import.meta.url)),
  )
  return paths.find(existsSync) ?? ''
}

/** The settings arrive in a message, and the master key never does. */
function environment(): NodeJS.ProcessEnv {
  const ofSettings = new Set<string>(Object.values(settings).map(({ env }) => env))
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !ofSettings.has(name)))
}

/** What a writer may know: no key, and no more sessions with PostgreSQL than it uses. */
const configOfWriter = (config: Config): Config => ({
  ...config,
  masterKey: undefined,
  keyCommand: [],
  previousMasterKey: undefined,
  databaseConnectionsMax: limits.writerSessionsMax,
  importMergeSecondsMax: contractLimits.streamMergeMs / 1000,
})

export function startWriter(options: WriterOptions): WriterProcess {
  const { memoryMegabytes = limits.writerMemoryMegabytes } = options
  const child = fork(programPath(), [WRITER_WORD], {
    env: environment(),
    execArgv: [`--max-old-space-size=${memoryMegabytes}`],
    // A report may have a bigint, and an absent member.
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  })
  const ended = endOf(child)
  let isAlive = true
  void ended.then(() => {
    isAlive = false
  })
  send(child, { config: configOfWriter(options.config) })
  return {
    pid: child.pid,
    ended,
    // One that was killed may not have ended yet.
    isAlive: () => isAlive && child.connected && !child.killed,
    kill: async () => {
      child.kill('SIGKILL')
      await ended
    },
    run: (job, signal) => runJob(child, job, signal, options.keys),
  }
}

/** A message to a process that has just ended is lost, and its end explains that. */
const send = (child: ChildProcess, message: ToWriter) => {
  if (child.connected) child.send(message, () => {})
}

function endOf(child: ChildProcess): Promise<WriterEnd> {
  let printed = ''
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    printed = (printed + text).slice(0, limits.writerPrintedLengthMax)
  })
  return new Promise((resolve) => {
    const end = (how: string) => resolve({ how, printed, isOurs: child.killed })
    child.once('exit', (code, signal) => end(String(signal ?? code)))
    // Without a number the process was not started. Other errors are messages that were lost.
    child.on('error', (error) => {
      if (child.pid === undefined) end(error.message)
    })
  })
}

async function runJob(
  child: ChildProcess,
  job: StreamJob,
  signal: AbortSignal,
  keys: CustomerKeySource,
): Promise<ImportReport> {
  const { promise, resolve, reject } = Promise.withResolvers<ImportReport>()
  let reason: unknown
  let cancelWatch = () => {}
  /** The row of the import tells whether the process has stored it. */
  const kill = (why: unknown) => {
    reason ??= why
    child.kill('SIGKILL')
  }
  const killIn = (delayMs: number) => {
    cancelWatch()
    const late = 'the writer of the stream has made no progress'
    cancelWatch = systemTime.after(delayMs, () => kill(new StoreUnavailable(late)))
  }
  const answerKeys = async (request: KeysRequest) => {
    const { number } = request
    try {
      send(child, { number, ...(await findKeys(keys, request)) })
    } catch (error) {
      const failure = error instanceof Error ? error.message : String(error)
      send(child, { number, failure })
    }
  }
  const onMessage = (message: FromWriter) => {
    if ('phase' in message) {
      killIn(message.phase === 'reading' ? limits.writerSilenceMs : limits.writerMergeMs)
    } else if ('keysOf' in message) void answerKeys(message)
    else if ('report' in message) resolve(message.report)
    else reject(failureOf(message.failure))
  }
  const onAbort = () => kill(signal.reason)
  const onExit = (code: number | null, by: NodeJS.Signals | null) =>
    reject(reason ?? ended(String(by ?? code)))
  const onError = (error: Error) => {
    if (child.pid === undefined) reject(ended(error.message))
  }
  child.on('message', onMessage)
  child.on('exit', onExit)
  child.on('error', onError)
  signal.addEventListener('abort', onAbort)
  try {
    send(child, { job })
    killIn(limits.writerSilenceMs)
    if (signal.aborted) onAbort()
    return await promise
  } finally {
    cancelWatch()
    signal.removeEventListener('abort', onAbort)
    child.off('message', onMessage)
    child.off('exit', onExit)
    child.off('error', onError)
  }
}

async function findKeys(source: CustomerKeySource, { keysOf, how }: KeysRequest) {
  const customer = asTenant(keysOf)
  if (typeof how === 'object') {
    return { binding: await source.bindingOf(customer, how.bound, how.keyId) }
  }
  if (how === 'make') return { made: await source.make(customer) }
  if (how === 'ensure') return { keys: await source.ensure(customer) }
  return { keys: await source.find(customer, how === 'find fresh') }
}

const ended = (how: string) => new StoreUnavailable(`the writer of the stream has ended (${how})`)

const failures = [ImportCancelled, NothingChanged, StoreCorrupted, StoreDamaged, StoreUnavailable]

/** A start has checked the configuration, so what it names has changed since. */
const unopened: readonly string[] = [ConfigError.name]

/** The error of a writer as the serving process knows it. */
function failureOf({ name, message, stack }: Pick<Error, 'name' | 'message' | 'stack'>): Error {
  const Known = unopened.includes(name)
    ? NothingChanged
    : failures.find((known) => known.name === name)
  if (Known !== undefined) return new Known(message)
  const error = new Error(message)
  error.name = name
  if (stack !== undefined) error.stack = stack
  return error
}
