import type { IngestOperation } from '../../contract/ingest-operation.ts'
import type { Operation } from '../../contract/operation.ts'
import type { Caller } from '../../contract/principal.ts'
import type { Answer, Request, Route } from '../../contract/request.ts'
import { limits } from '../../platform/limits.ts'
import { admit, type Verify } from './authenticate.ts'

type Routed = Pick<Operation | IngestOperation, 'id' | 'method' | 'path' | 'scope'> & {
  readonly body?: object
}

/** A route for each operation, answered by its pipeline. */
export function routesOf<O extends Routed, D extends { readonly verify: Verify<Caller> }>(
  operations: readonly O[],
  deps: D,
  handle: (operation: O, request: Request, deps: D) => Promise<Answer>,
): Route[] {
  return operations.map((operation) => ({
    method: operation.method,
    path: operation.path,
    operation: operation.id,
    ...bodyOf(operation),
    answer: (request) => handle(operation, request, deps),
    admit: (request) => admit(operation, request, deps.verify),
  }))
}

const bodyOf = ({ body = {} }: Routed): Pick<Route, 'bodyBytesMax' | 'takesStream'> => {
  if ('records' in body) return { takesStream: true }
  return 'record' in body ? { bodyBytesMax: limits.recordBytesMax } : {}
}
