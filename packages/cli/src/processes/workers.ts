import type { ChildProcess } from 'node:child_process'
import cluster from 'node:cluster'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { type Config, type Logger, limitsOf, systemTime } from '@bursar/base'
import { contractLimits } from '@bursar/contract'
import { CommandFailed } from '../output.ts'
import { type EndSignal, lameDuckMsAfter, onHangUp, untilSignalled } from './signals.ts'

const limits = limitsOf({
  /** After draining, a worker has this long to close its stores. Then it is killed. */
  workerDrainGraceMs: 2000,
  /** A worker that dies sooner has probably failed to start, so its replacement is delayed. */
  workerSettledMs: 10_000,
  /** The longest delay of a replacement of a worker. */
  workerDelayMsMax: 30_000,
})

const FAILED = 1

type WorkersDeps = {
  readonly config: Config
  readonly log: Logger
  /** Called with the URL when every worker is ready. */
  readonly announce: (url: string) => void
}

type Pool = {
  readonly running: Set<RunningWorker>
  readonly log: Logger
  readonly stopping: AbortSignal
}

type RunningWorker = {
  readonly process: ChildProcess
  readonly url: Promise<string>
  hasClosedListener: boolean
  readonly ended: Promise<Ending>
}

/** What a worker tells: that it is ready, or, in a shutdown, that it listens no more. */
type WorkerMessage = { readonly url: string; readonly listener: 'closed' }

type Ending =
  | { readonly pid?: number; readonly code: number | null; readonly signal: NodeJS.Signals | null }
  | { readonly err: unknown }

/** The URL of a ready worker, or how the worker ended. */
type Start = { readonly url: string } | Ending

/** Runs the service in workers on one port. Resolves with the exit code when all have ended. */
export async function superviseWorkers({ config, log, announce }: WorkersDeps): Promise<number> {
  const stopping = new AbortController()
  const signalled = untilSignalled(log)
  const stopped = signalled.then(() => stopping.abort())
  const pool: Pool = { running: new Set(), log, stopping: stopping.signal }
  // However the primary exits, it leaves no worker behind.
  process.on('exit', () => killAll(pool))
  const forward = () => {
    // SIGHUP would kill a worker that is still starting, so each gets it when it is ready.
    for (const worker of pool.running) void worker.url.then(() => worker.process.kill('SIGHUP'))
  }
  onHangUp(log, forward, 'forwarded to the workers')
  await prepareWorkers(config)
  if (config.operatorPort !== undefined) {
    const { serveMergedMetrics } = await import('./merged-metrics.ts')
    serveMergedMetrics()
  }
  const start = await Promise.race([startAll(config.workers, pool), stopped])
  if (start !== undefined && !('url' in start)) {
    stopping.abort()
    await drain(pool, 'SIGINT', config)
    return exitCodeOf(start)
  }
  if (start !== undefined) announce(start.url)
  return drain(pool, await signalled, config)
}

async function prepareWorkers(config: Config): Promise<void> {
  const { host, port, operatorPort, workers } = config
  // By default the primary accepts connections and hands them out. If that worker then dies, the
  // connection hangs. With a shared socket, the other workers accept what a dead one has not.
  cluster.schedulingPolicy = cluster.SCHED_NONE
  // Workers that start later use the same values, even if the configuration file has changed.
  const fixed = [
    '--host',
    host,
    '--port',
    String(port === 0 ? await freePort(host, operatorPort) : port),
    '--workers',
    String(workers),
  ]
  cluster.setupPrimary({ args: [...process.argv.slice(2), ...fixed] })
}

/**
 * Port 0 would give replaced workers another port if all of them died at once. The operator's port
 * is free too, until the workers listen.
 */
async function freePort(host: string, operatorPort: number | undefined): Promise<number> {
  const server = createServer().listen(0, host)
  await once(server, 'listening')
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  // While this one listens, the system gives another.
  const free = port === operatorPort ? await freePort(host, operatorPort) : port
  server.close()
  await once(server, 'close')
  return free
}

async function startAll(count: number, pool: Pool): Promise<Start> {
  // The first worker migrates a new store and reports faults once. Then the others start.
  const first = await startSlot(pool)
  if (!('url' in first)) return first
  const others = await Promise.all(Array.from({ length: count - 1 }, () => startSlot(pool)))
  return others.find((start) => !('url' in start)) ?? first
}

const startSlot = (pool: Pool): Promise<Start> =>
  new Promise((resolve) => void fillSlot(pool, resolve))

/** Replaces a dead worker for as long as the service runs. Only the first one may fail to start. */
async function fillSlot(pool: Pool, started: (start: Start) => void): Promise<void> {
  const { log, stopping } = pool
  let wasReady = false
  let earlyDeaths = 0
  while (!stopping.aborted) {
    const startedAt = systemTime.elapsedMs()
    const ending = await runWorker(pool, (url) => {
      wasReady = true
      started({ url })
    }).catch((err: unknown) => ({ err }))
    if (stopping.aborted) return
    if (!wasReady) return started(ending)
    const isEarly = systemTime.elapsedMs() - startedAt < limits.workerSettledMs
    earlyDeaths = isEarly ? earlyDeaths + 1 : 0
    const delayMs = isEarly ? Math.min(100 * 2 ** earlyDeaths, limits.workerDelayMsMax) : 0
    log.error({ ...ending, delayMs }, 'a worker died; starting another')
    await systemTime.pause(delayMs, stopping).catch(() => {})
  }
}

async function runWorker(pool: Pool, ready: (url: string) => void): Promise<Ending> {
  const worker = cluster.fork()
  const { pid } = worker.process
  const { promise: url, resolve: setUrl } = Promise.withResolvers<string>()
  worker.on('message', (message: Partial<WorkerMessage>) => {
    if (message.url !== undefined) setUrl(message.url)
    // The library of the metrics has messages too.
    if (message.listener === undefined) return
    running.hasClosedListener = true
    tellIfAllClosed(pool)
  })
  const ended = new Promise<Ending>((resolve) => {
    worker.process.once('exit', (code, signal) =>
      resolve({ ...(pid !== undefined && { pid }), code, signal }),
    )
    worker.on('error', (err) => {
      // Without a pid the fork has failed. Other errors are messages to a worker that has exited.
      if (pid === undefined) resolve({ err })
    })
  })
  const running: RunningWorker = { process: worker.process, url, ended, hasClosedListener: false }
  pool.running.add(running)
  pool.log.debug({ pid }, 'starting a worker')
  void url.then((value) => {
    pool.log.debug({ pid }, 'a worker is ready')
    ready(value)
  })
  const ending = await ended
  pool.running.delete(running)
  tellIfAllClosed(pool)
  return ending
}

/** A client that must reconnect while a worker still listens would connect to a closing port. */
function tellIfAllClosed({ running }: Pool): void {
  const workers = [...running]
  if (workers.some(({ hasClosedListener }) => !hasClosedListener)) return
  for (const { process } of workers) if (process.connected) process.send({ listeners: 'closed' })
}

/** A worker that fails to start reports the cause on stderr, unless a signal kills it. */
function exitCodeOf(ending: Ending): number {
  if ('err' in ending) throw ending.err
  if (ending.code === null) {
    throw new CommandFailed(`a worker was killed by ${ending.signal} before it was ready`)
  }
  return ending.code || FAILED
}

function killAll({ running }: Pool): void {
  for (const worker of running) worker.process.kill('SIGKILL')
}

/** Waits while each worker finishes its requests in flight. Kills those that take too long. */
async function drain(pool: Pool, signal: EndSignal, config: Config): Promise<number> {
  const { running, log } = pool
  const { listenerSettleMsMax, drainTimeoutMs } = contractLimits
  const { workerDrainGraceMs } = limits
  let exitCode = 0
  const listeningMs = lameDuckMsAfter(signal, config) + listenerSettleMsMax
  const deadlineMs = listeningMs + drainTimeoutMs + workerDrainGraceMs
  const cancel = systemTime.after(deadlineMs, () => {
    exitCode = FAILED
    const pids = [...running].map((worker) => worker.process.pid)
    log.error({ pids }, 'these workers did not end in time; killing them')
    killAll(pool)
  })
  for (const worker of running) worker.process.kill(signal)
  await Promise.all([...running].map(({ ended }) => ended))
  cancel()
  return exitCode
}
