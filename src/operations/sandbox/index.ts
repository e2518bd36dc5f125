import type { SandboxOperation } from '../../contract/sandbox-operation.ts'
import { moveSandboxClock, readSandboxClock } from './clock.ts'
import { createSandboxCustomer, deleteSandboxCustomer } from './customers.ts'
import { createSandboxFault, deleteSandboxFaults, listSandboxFaults } from './faults.ts'
import { deleteSandboxRecord, putSandboxRecords } from './records.ts'
import { listSandboxRequests } from './requests.ts'
import { sandboxReset } from './reset.ts'
import {
  createSandboxSnapshot,
  deleteSandboxSnapshot,
  restoreSandboxSnapshot,
} from './snapshots.ts'

/** Every call by which tests control a sandbox. */
export const sandboxOperations: readonly SandboxOperation[] = [
  createSandboxCustomer,
  deleteSandboxCustomer,
  putSandboxRecords,
  deleteSandboxRecord,
  createSandboxSnapshot,
  restoreSandboxSnapshot,
  deleteSandboxSnapshot,
  createSandboxFault,
  listSandboxFaults,
  deleteSandboxFaults,
  moveSandboxClock,
  readSandboxClock,
  listSandboxRequests,
  sandboxReset,
]
