import { printable } from '@bursar/base'
import type { Served } from '@bursar/server'

/** One line for a person at a terminal. It has no query, since one may hold account references. */
export function requestLine({ trace, method, status, durationMs }: Served, at: Date): string {
  const { operation = 'no operation', customer = '-', problem, fault } = trace
  const { ignoredParameters, joinedParameters } = trace
  return [
    at.toTimeString().slice(0, 8),
    String(status),
    method.padEnd(6),
    operation.padEnd(26),
    printable(customer, 40).padEnd(30),
    `${durationMs.toFixed(1)} ms`.padStart(9),
    ...(trace.rows === undefined ? [] : [`${trace.rows} rows`]),
    ...(problem === undefined ? [] : [problem]),
    ...(fault === undefined ? [] : [`fault: ${fault}`]),
    ...(ignoredParameters === undefined ? [] : [`ignored: ${ignoredParameters.join(', ')}`]),
    ...(joinedParameters === undefined
      ? []
      : [`several values in one: ${joinedParameters.join(', ')}`]),
  ].join('  ')
}
