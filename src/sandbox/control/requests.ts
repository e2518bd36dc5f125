import type { ControlWorks } from '../../contract/sandbox-operation.ts'
import type { Served } from '../../http/server/request-log.ts'
import { listSandboxRequests } from '../../operations/sandbox/requests.ts'
import type { Clock } from '../../platform/clock.ts'
import { limits } from '../../platform/limits.ts'
import { printInstant } from '../../values/instant.ts'
import type { Customers } from './customers.ts'

export type Requests = {
  readonly works: ControlWorks
  note(served: Served): void
  forget(customerId: string): void
  /** Forgets the customers that are gone since a restore. */
  prune(): void
}

/** Keeps the last requests of each customer, oldest first. */
export function openRequests(customers: Customers, clock: Clock): Requests {
  const kept = new Map<string, object[]>()
  return {
    works: {
      [listSandboxRequests.id]: async ({ parameters }) => {
        const customerId = String(parameters.get('customer_id'))
        await customers.require(customerId)
        return { requests: (kept.get(customerId) ?? []).toReversed() }
      },
    },
    note: (served) => {
      const { customer } = served.trace
      if (customer === undefined || !customers.has(customer)) return
      const own = kept.get(customer) ?? []
      kept.set(customer, own)
      own.push(shown(served, clock()))
      if (own.length > limits.sandboxRequestsKept) own.shift()
    },
    forget: (customerId) => void kept.delete(customerId),
    prune: () => {
      for (const customerId of kept.keys()) {
        if (!customers.has(customerId)) kept.delete(customerId)
      }
    },
  }
}

const shown = ({ trace, method, status, durationMs, id }: Served, now: bigint) => ({
  at: printInstant(now),
  operation: trace.operation ?? 'none',
  method,
  client_id: trace.client,
  status,
  problem: trace.problem,
  fault: trace.fault,
  ignored_parameters: trace.ignoredParameters,
  duration_ms: Math.round(durationMs * 100) / 100,
  request_id: id,
})
