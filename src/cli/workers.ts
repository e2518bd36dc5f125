import type { ChildProcess } from 'node:child_process'
import cluster from 'node:cluster'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { setTimeout as passing } from 'node:timers/promises'
import type { Config } from '../platform/config.ts'
import { limits } from '../platform/limits.ts'
import type { Logger } from '../platform/log.ts'
import { CommandFailed } from './output.ts'
import { untilSignalled } from './signals.ts'

const FAILED = 1

type WorkersDeps = {
  readonly config: Config
  readonly log: Logger
  /** Tells the URL, once every worker is ready. */
  readonly announce: (url: string) => void
}

type Crew = {
  readonly running: Set<RunningWorker>
  readonly log: Logger
  readonly stopping: AbortSignal
}

type RunningWorker = {
  readonly process: ChildProcess
  readonly url: Promise<string>
  readonly ended: Promise<Ending>
}

type Ending =
  | { readonly pid?: number; readonly code: number | null; readonly signal: NodeJS.Signals | null }
  | { readonly err: unknown }

/** Ready, or how the worker ended that could not be. */
type Start = { readonly url: string } | Ending

/**
 * The service in several processes on one port. This one, the primary, answers no request: it starts the workers, each
 * of which runs the whole service, replaces one that dies and passes signals on. Resolves with the command's exit code
 * when no worker is left.
 */
export async function superviseWorkers({ config, log, announce }: WorkersDeps): Promise<number> {
  const stopping = new AbortController()
  const signalled = untilSignalled(log).then(() => stopping.abort())
  const crew: Crew = { running: new Set(), log, stopping: stopping.signal }
  // However the primary ends, at a second signal too, no worker is left behind.
  process.on('exit', () => killAll(crew))
  process.on('SIGHUP', (signal) => {
    log.info({ signal }, 'passed on to the workers')
    // One that still starts would be ended by it, and may have read what is to be read again.
    for (const worker of crew.running) void worker.url.then(() => worker.process.kill('SIGHUP'))
  })
  await prepareWorkers(config)
  const start = await Promise.race([startAll(config.workers, crew), signalled])
  if (start !== undefined && !('url' in start)) {
    stopping.abort()
    await drain(crew)
    return exitCodeOf(start)
  }
  if (start !== undefined) announce(start.url)
  await signalled
  return drain(crew)
}

async function prepareWorkers({ host, port, workers }: Config): Promise<void> {
  // By default the primary takes connections and hands them out; one handed to a worker that then dies is answered by
  // nobody and hangs. A socket that the workers share leaves to the others what the dead one has not taken.
  cluster.schedulingPolicy = cluster.SCHED_NONE
  // Also for those that start later, when the configuration file may have changed: all are on one port.
  const settled = [
    ...['--host', host, '--port', String(port === 0 ? await freePort(host) : port)],
    ...['--workers', String(workers)],
  ]
  cluster.setupPrimary({
    args: [...process.argv.slice(2), ...settled],
  })
}

/** Were 0 left to the workers, the port would be another one after all of them have died at once. */
async function freePort(host: string): Promise<number> {
  const server = createServer().listen(0, host)
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  return typeof address === 'object' && address !== null ? address.port : 0
}

async function startAll(count: number, crew: Crew): Promise<Start> {
  // The first makes what a new store lacks and tells what is wrong; the others find all in order.
  const first = await startPlace(crew)
  if (!('url' in first)) return first
  const others = await Promise.all(Array.from({ length: count - 1 }, () => startPlace(crew)))
  return others.find((start) => !('url' in start)) ?? first
}

const startPlace = (crew: Crew): Promise<Start> =>
  new Promise((resolve) => void holdPlace(crew, resolve))

/** One worker after another, for as long as the service runs. Only the very first of a place may fail to start. */
async function holdPlace(crew: Crew, started: (start: Start) => void): Promise<void> {
  const { log, stopping } = crew
  let wasReady = false
  let earlyDeaths = 0
  while (!stopping.aborted) {
    const startedAt = performance.now()
    const ending = await runWorker(crew, (url) => {
      wasReady = true
      started({ url })
    }).catch((err: unknown) => ({ err }))
    if (stopping.aborted) return
    if (!wasReady) return started(ending)
    const isEarly = performance.now() - startedAt < limits.workerSettledMs
    earlyDeaths = isEarly ? earlyDeaths + 1 : 0
    const delayMs = isEarly ? Math.min(100 * 2 ** earlyDeaths, limits.workerDelayMsMax) : 0
    log.error({ ...ending, delayMs }, 'a worker died and is replaced')
    await passing(delayMs, undefined, { signal: stopping }).catch(() => {})
  }
}

async function runWorker(crew: Crew, ready: (url: string) => void): Promise<Ending> {
  const worker = cluster.fork()
  const { pid } = worker.process
  const url = new Promise<string>((resolve) => {
    worker.once('message', (message: { readonly url: string }) => resolve(message.url))
  })
  const ended = new Promise<Ending>((resolve) => {
    worker.process.once('exit', (code, signal) =>
      resolve({ ...(pid !== undefined && { pid }), code, signal }),
    )
    worker.on('error', (err) => {
      // The system had no process to give, and nothing else will come. Any other is a message that found it gone.
      if (pid === undefined) resolve({ err })
    })
  })
  const running = { process: worker.process, url, ended }
  crew.running.add(running)
  crew.log.info({ pid }, 'a worker starts')
  void url.then((value) => {
    crew.log.info({ pid }, 'a worker is ready')
    ready(value)
  })
  const ending = await ended
  crew.running.delete(running)
  return ending
}

/** What kept a worker from starting it has told on stderr itself, unless it had no time to. */
function exitCodeOf(ending: Ending): number {
  if ('err' in ending) throw ending.err
  if (ending.code === null) {
    throw new CommandFailed(`a worker was ended by ${ending.signal} before it was ready`)
  }
  return ending.code || FAILED
}

function killAll({ running }: Crew): void {
  for (const worker of running) worker.process.kill('SIGKILL')
}

/** Each worker answers what it has in flight; one that does not come to an end is killed. */
async function drain(crew: Crew): Promise<number> {
  const { running, log } = crew
  let exitCode = 0
  const deadline = setTimeout(() => {
    exitCode = FAILED
    const pids = [...running].map((worker) => worker.process.pid)
    log.error({ pids }, 'these workers did not end in time and are killed')
    killAll(crew)
  }, limits.drainTimeoutMs + limits.workerDrainGraceMs)
  for (const worker of running) worker.process.kill('SIGTERM')
  await Promise.all([...running].map(({ ended }) => ended))
  clearTimeout(deadline)
  return exitCode
}
