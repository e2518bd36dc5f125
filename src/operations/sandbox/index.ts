import type { Operation } from '../../contract/operation.ts'
import { moveSandboxClock, readSandboxClock } from './clock.ts'
import { createSandboxCustomer, deleteSandboxCustomer, listSandboxCustomers } from './customers.ts'
import {
  createSandboxFault,
  deleteSandboxFault,
  deleteSandboxFaults,
  listSandboxFaults,
} from './faults.ts'
import { deleteSandboxRecord, putSandboxRecords } from './records.ts'
import { listSandboxRequests } from './requests.ts'
import { sandboxReset } from './reset.ts'
import {
  createSandboxSnapshot,
  deleteSandboxSnapshot,
  listSandboxSnapshots,
  restoreSandboxSnapshot,
} from './snapshots.ts'

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
