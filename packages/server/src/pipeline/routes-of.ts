import assert from 'node:assert/strict'
import type { Caller, Operation, Route, Work } from '@bursar/contract'
import { type Api, handle } from './handle.ts'
import type { Reading } from './reading.ts'

/** What answers each operation, by its id. */
export type Readings<C extends Caller> = Readonly<Record<string, Work<C> | Reading<C>>>

/** A route for each operation, answered by the pipeline. */
export const routesOf = <A extends Caller, C extends A>(
  operations: readonly Operation[],
  readings: Readings<C>,
  api: Api<A, C>,
): Route[] =>
  operations.map((operation) => {
    const { id, method, path, body, scope } = operation
    const reading = readings[id]
    assert(reading !== undefined, `nothing is bound to ${id}`)
    const served = { operation, ...(typeof reading === 'function' ? { read: reading } : reading) }
    return {
      method,
      path,
      operation: id,
      ...(body !== undefined && 'bytesMax' in body && { bodyBytesMax: body.bytesMax }),
      takesStream: body !== undefined && 'isStream' in body,
      answer: (request) => handle(served, request, api),
      admit: async (request) => void api.requireScope(await api.authenticate(request), scope),
    }
  })
