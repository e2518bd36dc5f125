import { type Logger, REQUEST_LINE, type TraceContext } from '@bursar/base'
import { isFailure, type Trace } from '@bursar/contract'

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

/** Where no route has the path. */
export const noOperation = 'none'

/** Named as OpenTelemetry names them in a log that is not its own, so that tools find them. */
const traceMembers = ({ traceId, spanId, isSampled }: TraceContext) => ({
  trace_id: traceId,
  span_id: spanId,
  trace_flags: isSampled ? '01' : '00',
})

/**
 * Writes the one log line of a request. It names the operation, never the URL, since a query may
 * hold account references and a path an id. The cause of a failure is logged as type and stack.
 */
export function logRequest(log: Logger, served: Served): void {
  const { trace, id, method, status, durationMs, address } = served
  // The peer's address is personal data, so only a refusal needs it: to find an attacker.
  const isRefused = status === 401 || status === 403 || status === 429
  const { ignoredParameters: ignored, joinedParameters: joined } =
    served.logsIgnoredParameters === true ? trace : ({} as Served['trace'])
  // A failure that a test has created is no defect.
  const isDefect = isFailure(status) && trace.fault === undefined
  // A warning, because the sandbox shows nothing less by default.
  const level = isDefect ? 'error' : (ignored ?? joined) === undefined ? 'info' : 'warn'
  if (!log.isLevelEnabled(level)) return
  // Members that are undefined are not written.
  const line = {
    operation: trace.operation ?? noOperation,
    method,
    client: trace.client,
    status,
    problem: trace.problem,
    refusal: trace.refusal,
    address: isRefused ? address : undefined,
    ignoredParameters: ignored,
    joinedParameters: joined,
    rows: trace.rows,
    fee: trace.fee,
    durationMs: Math.round(durationMs * 100) / 100,
    requestId: id,
    ...(trace.context !== undefined && traceMembers(trace.context)),
    err: trace.cause,
  }
  log[level](line, level === 'warn' ? warningOf(ignored) : REQUEST_LINE)
}

const warningOf = (ignored: readonly string[] | undefined): string =>
  ignored === undefined
    ? 'request without a match, with several values in one parameter'
    : 'request with unknown parameters'
