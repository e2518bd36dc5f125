import type { MovableClock } from '@bursar/base'
import {
  type Interfere,
  type OperatorWorks,
  type Route,
  sandboxOperations,
  sandboxReset,
} from '@bursar/contract'
import type { SandboxState } from '@bursar/records'
import { openApiRoute, type Served, type ServiceParts, sandboxApi } from '@bursar/server'
import { clockWorks } from './control-clock.ts'
import { customerWorks, openCustomers } from './control-customers.ts'
import { openFaults } from './control-faults.ts'
import { recordWorks } from './control-records.ts'
import { openRequests } from './control-requests.ts'
import { controlRoutes } from './control-routes.ts'
import { snapshotWorks } from './control-snapshots.ts'

export type Control = {
  readonly routes: readonly Route[]
  readonly interfere: Interfere
  served(served: Served): void
  close(): void
}

type ControlDeps = {
  readonly parts: ServiceParts
  readonly state: SandboxState
  readonly clock: MovableClock
  readonly reset: () => Promise<object>
}

/** The calls by which tests control the sandbox, and what they need to know of each request. */
export async function openControl({ parts, state, clock, reset }: ControlDeps): Promise<Control> {
  const customers = await openCustomers(parts)
  const faults = openFaults(customers)
  const requests = openRequests(customers, clock.now)
  // The sweep of old quotes would take the new time for a defect. Denied tokens and keys are judged
  // by it as well.
  const moved = async () => {
    await parts.quotes.operator.resetSweep()
    await parts.oauth.refresh()
  }
  // A sandbox whose data are kept was perhaps stopped at another time than it is now.
  await moved()
  const restored = async () => {
    await parts.oauth.reload()
    await customers.reload()
    requests.prune()
    await moved()
  }
  const forget = (customerId: string) => {
    faults.forget(customerId)
    requests.forget(customerId)
  }
  const works: OperatorWorks = {
    ...customerWorks({ parts, state, customers, forget }),
    ...recordWorks({ parts, state, customers }),
    ...snapshotWorks({ state, clock, faults, restored }),
    ...clockWorks(clock, moved),
    ...faults.works,
    ...requests.works,
    [sandboxReset.id]: async () => {
      const body = await reset()
      await customers.reload()
      return { body }
    },
  }
  return {
    routes: [
      ...controlRoutes(sandboxOperations, works, parts),
      openApiRoute(sandboxApi, parts.url),
    ],
    interfere: faults.interfere,
    served: requests.note,
    close: faults.close,
  }
}
