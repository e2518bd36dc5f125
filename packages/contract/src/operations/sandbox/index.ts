import type { Operation } from '../../operation.ts'
import { moveSandboxClock, readSandboxClock } from './sandbox-clock.ts'
import {
  createSandboxCustomer,
  deleteSandboxCustomer,
  listSandboxCustomers,
} from './sandbox-customers.ts'
import {
  createSandboxFault,
  deleteSandboxFault,
  deleteSandboxFaults,
  listSandboxFaults,
} from './sandbox-faults.ts'
import { deleteSandboxRecord, putSandboxRecords } from './sandbox-records.ts'
import { listSandboxRequests } from './sandbox-requests.ts'
import { sandboxReset } from './sandbox-reset.ts'
import {
  createSandboxSnapshot,
  deleteSandboxSnapshot,
  listSandboxSnapshots,
  restoreSandboxSnapshot,
} from './sandbox-snapshots.ts'

/** Every call by which tests control a sandbox. */
export const sandboxOperations: readonly Operation[] = [
  createSandboxCustomer,
  listSandboxCustomers,
  deleteSandboxCustomer,
  putSandboxRecords,
  deleteSandboxRecord,
  createSandboxSnapshot,
  listSandboxSnapshots,
  restoreSandboxSnapshot,
  deleteSandboxSnapshot,
  createSandboxFault,
  listSandboxFaults,
  deleteSandboxFault,
  deleteSandboxFaults,
  moveSandboxClock,
  readSandboxClock,
  listSandboxRequests,
  sandboxReset,
]
