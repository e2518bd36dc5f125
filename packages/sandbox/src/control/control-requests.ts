import { type Clock, limitsOf, printInstant } from '@bursar/base'
import { listSandboxRequests, type OperatorWorks } from '@bursar/contract'
import type { Served } from '@bursar/server'
import type { Customers } from './control-customers.ts'

const limits = limitsOf({
  /** Requests of one customer that the sandbox lists, about 200 bytes each. */
  sandboxRequestsKept: 1000,
})

export type Requests = {
  readonly works: OperatorWorks
  /** The last requests of a customer, newest first. Rejects with a 404 for an unknown one. */
  list(customerId: string): Promise<readonly object[]>
  note(served: Served): void
  forget(customerId: string): void
  /** Forgets the customers that are gone since a restore. */
  prune(): void
}

/** Keeps the last requests of each customer, oldest first. */
export function openRequests(customers: Customers, clock: Clock): Requests {
  const kept = new Map<string, object[]>()
  const list = async (customerId: string) => {
    await customers.require(customerId)
    return (kept.get(customerId) ?? []).toReversed()
  }
  return {
    works: {
      [listSandboxRequests.id]: async ({ parameters }) => ({
        body: { requests: await list(String(parameters.get('customer_id'))) },
      }),
    },
    list,
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
  joined_parameters: trace.joinedParameters,
  duration_ms: Math.round(durationMs * 100) / 100,
  request_id: id,
})
