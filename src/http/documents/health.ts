import { Problem } from '../../contract/problem.ts'
import { jsonAnswer, type Route } from '../../contract/request.ts'

/** A part of readiness. `check` rejects with the reason when the part does not work. */
export type ReadinessCheck = {
  readonly name: string
  readonly check: () => Promise<Readonly<Record<string, unknown>> | undefined>
}

/** `/healthz`: the process runs. `/readyz`: it can answer customers, or a 503 says what cannot. */
export function healthRoutes(checks: readonly ReadinessCheck[]): Route[] {
  return [
    {
      method: 'GET',
      path: '/healthz',
      operation: 'health',
      answer: () => jsonAnswer({ status: 'ok' }, { 'cache-control': 'no-store' }),
    },
    {
      method: 'GET',
      path: '/readyz',
      operation: 'readiness',
      answer: async () => {
        const parts = await Promise.all(checks.map(runCheck))
        const meta = { checks: Object.fromEntries(parts.map((part) => [part.name, part.result])) }
        const failed = parts.filter((part) => part.result.status !== 'ok').map((part) => part.name)
        if (failed.length === 0) {
          return jsonAnswer({ status: 'ready', ...meta }, { 'cache-control': 'no-store' })
        }
        throw new Problem(503, `not ready: ${failed.join(', ')}`, {
          meta,
          headers: { 'retry-after': '1' },
        })
      },
    },
  ]
}

async function runCheck({ name, check }: ReadinessCheck) {
  try {
    return { name, result: { status: 'ok', ...(await check()) } }
  } catch {
    return { name, result: { status: 'failed' } }
  }
}
