import { type Clock, openPassingCipher } from '@bursar/base'
import { isKeyedKind, isSealedKind, type Resource } from '@bursar/contract'
import type { Dialect } from '../dialect.ts'
import {
  type FoundFaults,
  type LineName,
  type MergeOptions,
  type MergeReport,
  noFaults,
  type OnStep,
  type RecordLoad,
  type SealedRecord,
} from '../records/import.ts'
import type { MadeKeys } from '../sealing/customer-keys.ts'
import { addBoundCustomers } from '../sealing/customer-numbers.ts'
import type { Seals } from '../sealing/seals.ts'
import { settleKeys } from '../sealing/settle-keys.ts'
import { holds, type Session, type StagedValue } from '../session.ts'
import { conflictQueries } from './conflict-queries.ts'
import { conflictReader, findFaults, rejectConflicts } from './find-faults.ts'
import type { MergeSteps } from './merge-order.ts'
import { type Left, leaveChanging, mergeStaged, type Storing } from './merge-staged.ts'
import { mergeStatements } from './merge-statements.ts'
import { hasRepeats, stagedRows, stagingOf } from './staging.ts'

/** Where an adapter keeps the lines of an import until its merge. */
export type StagingArea = {
  /** Adds a row to the staged ones. Returns a promise when the store cannot keep up. */
  stage(row: readonly StagedValue[], record: SealedRecord): Promise<void> | undefined
  /**
   * Runs work over the staging tables with all their rows. It may run it again from the start, if
   * `locked` has found out before its work that another writer came in between.
   */
  withStaged<T>(work: (staged: StagedLines) => Promise<T>, onStep?: OnStep): Promise<T>
  close(): Promise<void>
}

type StagedLines = {
  readonly session: Session
  /**
   * Runs steps in a transaction that keeps other writers from the staged customers and, with
   * `takeOver`, from those that lose a value.
   */
  locked<T>(steps: Unlocked<T>, takeOver: boolean): Promise<T>
  readonly storing: Storing
}

/** The steps of a merge, but for the locks of customers, which differ. */
type Unlocked<T> = Omit<MergeSteps<T>, 'lock'> & {
  /** Adds customers, once those that have rows are locked. */
  add(): Promise<void>
}

type LoadDeps = {
  readonly area: StagingArea
  readonly dialect: Dialect
  readonly clock: Clock
  readonly seals: Seals
  readonly nameLine?: LineName | undefined
}

/** Imports one file. Closes the area if it cannot begin. */
export async function loadRecords(deps: LoadDeps, resource: Resource): Promise<RecordLoad> {
  try {
    return await openLoad(deps, resource)
  } catch (error) {
    await deps.area.close()
    throw error
  }
}

async function openLoad(deps: LoadDeps, resource: Resource): Promise<RecordLoad> {
  const { area, dialect, clock, seals, nameLine = (line) => `line ${line}` } = deps
  const rowOf = stagedRows(stagingOf(resource, dialect))
  const conflicts = conflictQueries(resource, dialect)
  const merge = mergeStatements(resource, dialect)
  const isRejected = 'line in (select line from rejected)'
  const leaveOut = [...merge.held.leaveOut(isRejected), ...merge.held.holdAgain]
  // The lines of sealed kinds wait on a disk too.
  const cipher = isSealedKind(resource) ? openPassingCipher() : undefined
  const hidden = (raw: string | undefined) => (raw === undefined ? raw : (cipher?.hide(raw) ?? raw))
  const made: MadeKeys = new Map()
  const readConflict = conflictReader(resource, nameLine)
  let sequence = 0
  const faultsOf = (session: Session, queries: readonly string[]) =>
    findFaults(session, queries, readConflict)
  const haveRepeats = (session: Session) => holds(session, hasRepeats)
  const allFaults = async (session: Session, options: Allowed) => {
    const within = conflicts.withinFile(await haveRepeats(session))
    return await faultsOf(session, [...within, ...conflicts.withStore(options)])
  }
  /** Throws a Refused for conflicts, or leaves out what conflicts. Returns how many records. */
  const settleConflicts = async (
    session: Session,
    repeats: boolean,
    { reject, rejectedFaults, ...options }: MergeOptions,
  ): Promise<number> => {
    const withStore = conflicts.withStore(options)
    if (reject !== undefined) {
      const all = [...conflicts.withinFile(repeats), ...withStore]
      const rejected = await rejectConflicts(session, all, readConflict, { leaveOut, reject })
      const found = rejectedFaults?.() ?? noFaults
      if (found.faultCount > 0) throw new Refused(refused(found))
      return rejected
    }
    const stored = await faultsOf(session, withStore)
    if (stored.faultCount > 0) throw new Refused(refused(stored))
    return 0
  }
  return {
    stage: (record) => {
      sequence += 1
      const at = sequence
      const stage = (sealed: SealedRecord) => {
        const { raw } = sealed
        const waiting = raw === undefined ? sealed : { ...sealed, raw: hidden(raw) }
        return area.stage(rowOf(at, waiting), waiting)
      }
      const sealed = seals.seal(resource, record, made)
      return sealed instanceof Promise ? sealed.then(stage) : stage(sealed)
    },
    check: (options) => area.withStaged(({ session }) => allFaults(session, options)),
    merge: ({ reject, ...given }) => {
      const run = async (staged: StagedLines) => {
        const { session } = staged
        const shown: MergeOptions['reject'] = ({ raw, ...rejected }) =>
          reject?.({ ...rejected, raw: cipher?.show(raw) ?? raw })
        const options = { ...given, reject: reject && shown }
        const repeats = await haveRepeats(session)
        // Before it locks the store, unless what is stored decides which record is rejected.
        const within =
          options.reject === undefined
            ? await faultsOf(session, conflicts.withinFile(repeats))
            : noFaults
        if (within.faultCount > 0) return refused(await allFaults(session, options))
        let left: Left | undefined
        const leave = async () => {
          if (isKeyedKind(resource) && !options.dryRun) {
            await settleKeys(session, { dialect, seals, clock }, resource, made)
          }
          return await leaveChanging(session, resource, { dialect, seals, merge, repeats })
        }
        const steps: Unlocked<MergeReport> = {
          leave: async () => {
            // A line that changes nothing conflicts with no stored record. But another line of the
            // file may be rejected because of it.
            if (options.reject === undefined) left = await leave()
          },
          add: async () => {
            if (options.dryRun) return
            const { numbers } = seals
            await addBoundCustomers(session, { dialect, numbers }, merge.addCustomers)
          },
          hold: async () => {
            if (!options.dryRun) await session.run(merge.held.hold)
          },
          store: async () => {
            // Only a stored version can make a staged one older.
            const allowOlder = options.allowOlder || left?.replacing.size === 0
            const rejected = await settleConflicts(session, repeats, { ...options, allowOlder })
            left ??= await leave()
            options.onStep?.('merging')
            const parts = { dialect, merge, now: clock(), rejected, left, storing: staged.storing }
            return await mergeStaged(session, resource, { ...options, ...parts })
          },
        }
        return await staged.locked(steps, options.takeOver ?? false)
      }
      return area.withStaged(run, given.onStep).catch((error: unknown) => {
        if (error instanceof Refused) return error.report
        throw error
      })
    },
    close: area.close,
  }
}

type Allowed = Pick<MergeOptions, 'allowOlder' | 'takeOver'>

/** Rolls a merge back that has held values already. */
class Refused extends Error {
  override readonly name = 'Refused'
  readonly report: MergeReport

  constructor(report: MergeReport) {
    super('the records conflict')
    this.report = report
  }
}

const refused = (found: FoundFaults): MergeReport => ({
  ...found,
  rejected: 0,
  withdrawn: 0,
  added: 0,
  changed: 0,
  unchanged: 0,
})
