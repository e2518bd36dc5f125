import { randomUUID } from 'node:crypto'
import { type MovableClock, printInstant } from '@bursar/base'
import {
  contractLimits,
  createSandboxSnapshot,
  deleteSandboxSnapshot,
  listSandboxSnapshots,
  noneFound,
  type OperatorWorks,
  type Problem,
  problem,
  restoreSandboxSnapshot,
} from '@bursar/contract'
import type { SandboxState } from '@bursar/records'
import type { Fault, Faults } from './control-faults.ts'

type Snapshot = {
  readonly createdAt: bigint
  readonly offset: bigint
  readonly faults: readonly Fault[]
}

type SnapshotDeps = {
  readonly state: SandboxState
  readonly clock: MovableClock
  readonly faults: Pick<Faults, 'save' | 'restore'>
  /** Called after a restore, since memory knows the state from before it. */
  readonly restored: () => Promise<void>
}

/** The databases are saved as files; faults and the clock exist in memory only. */
export function snapshotWorks({ state, clock, faults, restored }: SnapshotDeps): OperatorWorks {
  const saved = new Map<string, Snapshot>()
  const find = (id: string): Snapshot => {
    const found = saved.get(id)
    if (found !== undefined) return found
    throw noneFound('snapshot', id)
  }
  return {
    [createSandboxSnapshot.id]: async () => {
      if (saved.size >= contractLimits.sandboxSnapshotsMax) throw tooManySnapshots()
      const id = randomUUID()
      const snapshot = { createdAt: clock.now(), offset: clock.offset(), faults: faults.save() }
      await state.saveSnapshot(id)
      saved.set(id, snapshot)
      return { body: shown(id, snapshot) }
    },
    [listSandboxSnapshots.id]: async () => ({
      body: { snapshots: [...saved].map(([id, snapshot]) => shown(id, snapshot)) },
    }),
    [restoreSandboxSnapshot.id]: async ({ parameters }) => {
      const id = String(parameters.get('id'))
      const snapshot = find(id)
      await state.restoreSnapshot(id)
      faults.restore(snapshot.faults)
      clock.setOffset(snapshot.offset)
      await restored()
      return { body: shown(id, snapshot) }
    },
    [deleteSandboxSnapshot.id]: async ({ parameters }) => {
      const id = String(parameters.get('id'))
      find(id)
      await state.dropSnapshot(id)
      saved.delete(id)
      return {}
    },
  }
}

const shown = (id: string, { createdAt }: Snapshot) => ({ id, created_at: printInstant(createdAt) })

const tooManySnapshots = (): Problem =>
  problem('conflict', `the sandbox has ${contractLimits.sandboxSnapshotsMax} snapshots; delete one`)
