import type { Background, JobState } from '../../background.ts'
import { problem } from '../../contract/problem.ts'
import { jsonAnswer, type Route } from '../../contract/request.ts'
import { printInstant } from '../../values/instant.ts'

/** A part of readiness. `check` rejects with the reason when the part does not work. */
export type ReadinessCheck = {
  readonly name: string
  /** What the operator sees beside `"status":"ok"`. The status `failed` also fails the part. */
  readonly check: () => Promise<Readonly<Record<string, unknown>> | undefined>
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
      const { failed } = await look()
      if (failed.length === 0) return jsonAnswer({ status: 'ready' }, notStored)
      throw problem('unavailable', 'the service is not ready; try again shortly', {
        retryAfter: 1,
        cause: causeOf(failed),
      })
    }),
  ]
}

/** The same paths on the operator's port, where `/readyz` reports every part of this process. */
export function operatorHealthRoutes(
  checks: readonly ReadinessCheck[],
  background: Background,
): Route[] {
  const look = shared(() => runChecks(checks))
  return [
    liveness,
    readiness('operatorReadiness', async () => {
      const { failed, results } = await look()
      const meta = { pid: process.pid, checks: results, jobs: describeJobs(background.states()) }
      if (failed.length === 0) return jsonAnswer({ status: 'ready', ...meta }, notStored)
      throw problem('unavailable', `not ready: ${failed.map(({ name }) => name).join(', ')}`, {
        meta,
        retryAfter: 1,
        cause: causeOf(failed),
      })
    }),
  ]
}

/** What the operator's port reports, for callers of the API who may know it. */
export function openHealthReport(
  checks: readonly ReadinessCheck[],
  background: Background,
): () => Promise<object> {
  const look = shared(() => runChecks(checks))
  return async () => {
    const { failed, results } = await look()
    return {
      status: failed.length === 0 ? 'ready' : 'failed',
      pid: process.pid,
      checks: results,
      jobs: describeJobs(background.states()),
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

const notStored = { 'cache-control': 'no-store' }

const liveness: Route = {
  method: 'GET',
  path: '/healthz',
  operation: 'health',
  answer: () => jsonAnswer({ status: 'ok' }, notStored),
}

const readiness = (operation: string, answer: Route['answer']): Route => ({
  method: 'GET',
  path: '/readyz',
  operation,
  answer,
})

type Failed = { readonly name: string; readonly reason: string }

/** For the log: the parts, each with its reason. */
const causeOf = (failed: readonly Failed[]): Error =>
  new Error(`not ready: ${failed.map(({ name, reason }) => `${name} (${reason})`).join(', ')}`)

type Looked = {
  readonly failed: readonly Failed[]
  readonly results: Readonly<Record<string, Readonly<Record<string, unknown>>>>
}

async function runChecks(checks: readonly ReadinessCheck[]): Promise<Looked> {
  const parts = await Promise.all(checks.map(runCheck))
  return {
    failed: parts
      .filter(({ result }) => result.status === 'failed')
      .map(({ name, result }) => ({ name, reason: String(result.reason) })),
    results: Object.fromEntries(parts.map(({ name, result }) => [name, result])),
  }
}

async function runCheck({ name, check }: ReadinessCheck) {
  try {
    const result: Readonly<Record<string, unknown>> = { status: 'ok', ...(await check()) }
    return { name, result }
  } catch (error) {
    const reason = error instanceof Error ? error.message : 'unknown'
    return { name, result: { status: 'failed', reason } }
  }
}

/** Requests share a check that runs, so that nobody can fill the database's pool with checks. */
function shared<T>(run: () => Promise<T>): () => Promise<T> {
  let running: Promise<T> | undefined
  return () => {
    running ??= run().finally(() => {
      running = undefined
    })
    return running
  }
}
