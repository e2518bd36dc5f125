import type { Trace } from '../../contract/request.ts'
import type { Logger } from '../../platform/log.ts'

export type Served = {
  readonly trace: Trace
  readonly id: string
  readonly method: string
  readonly status: number
  readonly durationMs: number
  /** Unknown for a request that Node could not parse. */
  readonly address?: string
  readonly logsIgnoredParameters?: boolean
}

/**
 * Writes the one log line of a request. It names the operation, never the URL, since a query may
 * hold account references and a path an id. The cause of a failure is logged as type and stack.
 */
export function logRequest(log: Logger, served: Served): void {
  const { trace, id, method, status, durationMs, address } = served
  // The peer's address is personal data, so only a refusal needs it: to find an attacker.
  const isRefused = status === 401 || status === 403 || status === 429
  const ignored = served.logsIgnoredParameters === true ? trace.ignoredParameters : undefined
  const line = {
    operation: trace.operation ?? 'none',
    method,
    ...(trace.client !== undefined && { client: trace.client }),
    status,
    ...(trace.problem !== undefined && { problem: trace.problem }),
    ...(trace.refusal !== undefined && { refusal: trace.refusal }),
    ...(isRefused && address !== undefined && { address }),
    ...(ignored !== undefined && { ignoredParameters: ignored }),
    ...(trace.rows !== undefined && { rows: trace.rows }),
    ...(trace.fee !== undefined && { fee: trace.fee }),
    durationMs: Math.round(durationMs * 100) / 100,
    requestId: id,
    ...(trace.cause !== undefined && { err: trace.cause }),
  }
  // A failure that a test has created is no defect.
  if (status >= 500 && trace.fault === undefined) log.error(line, 'request')
  // A warning, because the sandbox shows nothing less by default.
  else if (ignored !== undefined) log.warn(line, 'request with unknown parameters')
  else log.info(line, 'request')
}
