import { type Background, type JobState, printInstant, type RequestMinutes } from '@bursar/base'
import { jsonAnswer, problem, type Route } from '@bursar/contract'

/** A part of readiness. `check` rejects with the reason when the part does not work. */
export type ReadinessCheck = {
  readonly name: string
  /** What the operator sees beside `"status":"ok"`. The status `failed` also fails the part. */
  readonly check: () => Promise<Readonly<Record<string, unknown>> | undefined>
}

/** Each part with its status, by its name. */
type Results = Readonly<Record<string, Readonly<Record<string, unknown>>>>

/** What the operator may know of this process. */
type Health = {
  readonly status: 'ready' | 'failed'
  readonly pid: number
  readonly checks: Results
  readonly jobs: readonly object[]
  readonly requests: { readonly minutes: readonly object[] }
}

/**
 * `/healthz`: the process runs. `/readyz`: it can answer customers, or a 503. Anyone may ask, so
 * the answer says no more; the log line of a 503 names the parts.
 */
export function healthRoutes(checks: readonly ReadinessCheck[]): Route[] {
  const look = shared(() => runChecks(checks))
  return [
    liveness,
    readiness('readiness', async () => {
      const results = await look()
      if (failedOf(results).length === 0) return jsonAnswer({ status: 'ready' }, notStored)
      throw problem('unavailable', 'the service is not ready; try again shortly', {
        retryAfter: 1,
        cause: causeOf(results),
      })
    }),
  ]
}

/** The same paths on the operator's port, where `/readyz` reports every part of this process. */
export const operatorHealthRoutes = (report: () => Promise<Health>): Route[] => [
  liveness,
  readiness('operatorReadiness', async () => {
    const { status, ...meta } = await report()
    if (status === 'ready') return jsonAnswer({ status, ...meta }, notStored)
    const names = failedOf(meta.checks).map(([name]) => name)
    throw problem('unavailable', `not ready: ${names.join(', ')}`, {
      meta,
      retryAfter: 1,
      cause: causeOf(meta.checks),
    })
  }),
]

/** What `read` returns, for Prometheus. Everyone who reaches the operator's port may read it. */
export function metricsRoute(read: () => Promise<string>): Route {
  const readOnce = shared(read)
  return {
    method: 'GET',
    path: '/metrics',
    operation: 'metrics',
    answer: async () => {
      const headers = { ...notStored, 'content-type': 'text/plain; version=0.0.4; charset=utf-8' }
      return { status: 200, headers, body: await readOnce() }
    },
  }
}

/** For the operator's port, and for callers of the API who may know as much. */
export function openHealthReport(
  checks: readonly ReadinessCheck[],
  background: Background,
  minutes: Pick<RequestMinutes, 'read'>,
): () => Promise<Health> {
  const look = shared(() => runChecks(checks))
  return async () => {
    const results = await look()
    return {
      status: failedOf(results).length === 0 ? 'ready' : 'failed',
      pid: process.pid,
      checks: results,
      jobs: describeJobs(background.states()),
      requests: {
        minutes: minutes.read().map((minute) => ({ ...minute, at: printInstant(minute.at) })),
      },
    }
  }
}

const describeJobs = (states: readonly JobState[]) =>
  states.map(({ name, of, everyMs, last, failingSince, next }) => ({
    name,
    ...(of !== undefined && { of }),
    every_s: everyMs / 1000,
    status: statusOf(last, failingSince),
    ...(last !== undefined && {
      ran_at: printInstant(last.at),
      took_ms: Math.round(last.tookMs),
    }),
    ...(failingSince !== undefined && { failing_since: printInstant(failingSince) }),
    ...('at' in next
      ? { next_at: printInstant(next.at) }
      : { running_since: printInstant(next.runningSince) }),
  }))

function statusOf(last: JobState['last'], failingSince: bigint | undefined) {
  if (last === undefined) return 'waiting'
  return failingSince === undefined ? 'ok' : 'failed'
}

/** What load balancers and watchers call, which says nothing about the load of callers. */
export const probes: ReadonlySet<string> = new Set(['health', 'readiness'])

const notStored = { 'cache-control': 'no-store' }

const liveness: Route = {
  method: 'GET',
  path: '/healthz',
  operation: 'health',
  isProbe: true,
  answer: () => jsonAnswer({ status: 'ok' }, notStored),
}

const readiness = (operation: string, answer: Route['answer']): Route => ({
  method: 'GET',
  path: '/readyz',
  operation,
  isProbe: true,
  answer,
})

const failedOf = (results: Results) =>
  Object.entries(results).filter(([, { status }]) => status === 'failed')

/** For the log: the parts, each with its reason. */
const causeOf = (results: Results): Error => {
  const failed = failedOf(results).map(([name, { reason }]) => `${name} (${reason})`)
  return new Error(`not ready: ${failed.join(', ')}`)
}

const runChecks = async (checks: readonly ReadinessCheck[]): Promise<Results> =>
  Object.fromEntries(await Promise.all(checks.map(runCheck)))

async function runCheck({ name, check }: ReadinessCheck) {
  try {
    return [name, { status: 'ok', ...(await check()) }] as const
  } catch (error) {
    const reason = error instanceof Error ? error.message : 'unknown'
    return [name, { status: 'failed', reason }] as const
  }
}

/** Requests share a run, so that nobody can fill the database's pool with checks. */
function shared<T>(run: () => Promise<T>): () => Promise<T> {
  let running: Promise<T> | undefined
  return () => {
    running ??= run().finally(() => {
      running = undefined
    })
    return running
  }
}
