import { isSealedKind, type Resource } from '../../contract/resource.ts'
import type { Clock } from '../../platform/clock.ts'
import { openPassingCipher } from '../../vault/passing-cipher.ts'
import type { Dialect } from '../dialect.ts'
import {
  CHANGED_MEANWHILE,
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
import type { Seals } from '../sealing/seals.ts'
import { settleKeys } from '../sealing/settle-keys.ts'
import type { Session, StagedValue } from '../session.ts'
import { conflictQueries } from './conflict-queries.ts'
import { conflictReader, findFaults, rejectConflicts } from './find-faults.ts'
import { holds, openKnownRecords, repeatsKnown } from './known-records.ts'
import { mergeStaged, type Storing } from './merge-staged.ts'
import { mergeStatements } from './merge-statements.ts'
import { hasRepeats, knownRow, stagedRows, stagingOf } from './staging.ts'

/** Where an adapter keeps the lines of an import until its merge. */
export type StagingArea = {
  /** Reads what is stored, while the import is read. */
  readonly reader: Pick<Session, 'rows'>
  /** Adds a row to the staged ones. Returns a promise when the store cannot keep up. */
  stage(row: readonly StagedValue[], record: SealedRecord): Promise<void> | undefined
  /** Adds a row to `known`, as `stage` does. */
  noteKnown(row: readonly StagedValue[]): Promise<void> | undefined
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
   * Runs work in a transaction that keeps other writers from the staged customers and, with
   * `takeOver`, from those that lose a value. `hold` adds customers and holds the staged values.
   */
  locked<T>(hold: () => Promise<void>, work: () => Promise<T>, takeOver: boolean): Promise<T>
  readonly storing: Storing
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
  const { leaveOut: leave, holdAgain } = merge.held
  const leaveOut = [...leave('line in (select line from rejected)'), ...holdAgain]
  const known = await openKnownRecords(area.reader, resource, { dialect, seals })
  // The lines of sealed kinds wait on a disk too.
  const cipher = isSealedKind(resource) ? openPassingCipher() : undefined
  const hidden = (raw: string | undefined) => (raw === undefined ? raw : (cipher?.hide(raw) ?? raw))
  const made: MadeKeys = new Map()
  const readConflict = conflictReader(resource, nameLine)
  let sequence = 0
  let knownLines = 0
  const faultsOf = (session: Session, queries: readonly string[]) =>
    findFaults(session, queries, readConflict)
  const haveRepeats = (session: Session) => holds(session, hasRepeats)
  /** Faults of all lines, once the known ones are staged too. */
  const allFaults = async (session: Session, options: Allowed) => {
    if (knownLines > 0) await known.stageAll(session)
    const within = conflicts.withinFile(await haveRepeats(session))
    return await faultsOf(session, [...within, ...conflicts.withStore(options)])
  }
  /** Whether a known line may decide on what becomes of a staged record. */
  const isKnownNeeded = async (session: Session, options: Allowed) =>
    (await holds(session, repeatsKnown)) ||
    (await holds(session, anyOf(conflicts.withStore({ ...options, takeOver: false }))))
  const mergeLocked = async (
    { session, storing }: StagedLines,
    staged: { readonly repeats: boolean },
    { reject, ...options }: MergeOptions,
  ): Promise<MergeReport> => {
    if (knownLines > 0 && (await known.areChanged(session))) {
      return refused({ faults: [CHANGED_MEANWHILE], faultCount: 1 })
    }
    let { repeats } = staged
    if (knownLines > 0 && (await isKnownNeeded(session, options))) {
      if (reject === undefined) {
        const all = await allFaults(session, options)
        if (all.faultCount > 0) return refused(all)
      } else await known.stageAll(session)
      repeats = await haveRepeats(session)
    }
    const hasReplaced = await holds(session, merge.hasReplaced)
    // Only a stored version can make a staged one older.
    const allowOlder = options.allowOlder || !hasReplaced
    const withStore = conflicts.withStore({ ...options, allowOlder })
    const stored = reject === undefined ? await faultsOf(session, withStore) : noFaults
    if (stored.faultCount > 0) return refused(stored)
    const all = [...conflicts.withinFile(repeats), ...withStore]
    const rejected =
      reject === undefined
        ? 0
        : await rejectConflicts(session, all, readConflict, { leaveOut, reject })
    if (isSealedKind(resource) && !options.dryRun) {
      await settleKeys(session, { dialect, seals, clock }, resource, made)
    }
    options.onStep?.('merging')
    const now = clock()
    const parts = { dialect, seals, merge, now, rejected, repeats, hasReplaced, storing }
    return await mergeStaged(session, resource, { ...options, ...parts })
  }
  return {
    isFirst: known.isFirst,
    stored: known.stored,
    noteKnown: (line) => {
      knownLines += 1
      sequence += 1
      return area.noteKnown(knownRow(sequence, { ...line, raw: hidden(line.raw) }))
    },
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
        const hold = async () => {
          if (options.dryRun) return
          await session.run(merge.addCustomers)
          await session.run(merge.held.hold)
        }
        const work = async () => {
          const report = await mergeLocked(staged, { repeats }, options)
          if (report.faultCount > 0) throw new Refused(report)
          return report
        }
        return await staged.locked(hold, work, options.takeOver ?? false)
      }
      return area.withStaged(run, given.onStep).catch((error: unknown) => {
        if (error instanceof Refused) return error.report
        throw error
      })
    },
    close: area.close,
  }
}

/** Whether one of these queries has a row. */
const anyOf = (queries: readonly string[]): string =>
  `select exists (${queries.map((query) => `select 1 from (${query}) as found`).join(' union all ')}) as holds`

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
