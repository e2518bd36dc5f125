import type { Dialect } from '../dialect.ts'
import { type NamedRow, optionalWhole } from '../row.ts'
import type { Session, Value } from '../session.ts'
import type { MergeStatements } from './merge-statements.ts'
import { type Noted, noteOrigins } from './origins.ts'

/** What a merge does in its transaction, of an import or of single records. */
export type MergeSteps<T> = {
  /** Locks customers by their numbers, and adds the new ones by their ids. */
  lock(): Promise<void>
  /** Drops the records that are stored as they are: they conflict with nothing that is stored. */
  leave(): Promise<void>
  /** Holds the values of the records, in one order. */
  hold(): Promise<void>
  /** Refuses, or leaves out, what conflicts, and stores the rest with `storeStaged`. */
  store(): Promise<T>
  /**
   * Whether records that are stored as they are hold their values too, which mends what is lost of
   * `unique_claim`. The many of a file do not.
   */
  readonly holdsAll?: boolean
}

/**
 * The order of every merge. It may wait for another one as it locks and as it holds: for one that
 * is further on in the same order, so that none waits in a circle. What follows sees all that those
 * have stored, and waits for nobody.
 */
export async function mergeInOrder<T>(steps: MergeSteps<T>): Promise<T> {
  const { lock, leave, hold, store, holdsAll = false } = steps
  await lock()
  if (!holdsAll) await leave()
  await hold()
  if (holdsAll) await leave()
  return await store()
}

/** How the statements of a merge run. */
export type MergeRun = {
  readonly session: Session
  readonly dialect: Dialect
  readonly merge: MergeStatements
  /** The time of the clock. */
  readonly now: bigint
  /** Sends statements that need no result of each other together, and prepares them. */
  readonly isPipelined: boolean
}

/**
 * Notes what the staged records take from other customers, and stages the records that lose it, as
 * `stageLosers` does. Returns how many.
 */
export async function takeValues(run: MergeRun, stageLosers: string): Promise<number> {
  const [, losers = []] = await inOrder(run, [
    () => runOne(run, run.merge.held.noteTaken),
    () => runOne(run, stageLosers, [run.now]),
  ])
  return losers.length
}

type Stored = {
  readonly origins: readonly Noted[]
  /** Whether records are new, and whether versions are replaced. */
  readonly adds: boolean
  readonly replaces: boolean
  /** Whether values were noted that may not be held any more. */
  readonly isLetGo: boolean
  /** Wraps the statements that store the records. */
  readonly storing?: (store: () => Promise<unknown>) => Promise<unknown>
  /** Statements that follow. */
  readonly last?: readonly string[]
}

/** Stores the staged records, which conflict with nothing. Returns the time of their versions. */
export async function storeStaged(run: MergeRun, stored: Stored): Promise<bigint> {
  const { session, dialect, merge, now } = run
  const { origins, adds, replaces, storing = (store) => store() } = stored
  const lastChange = () => runOne(run, merge.lastChange)
  const noted = () => noteOrigins(session, dialect, origins).then(() => [])
  const [[last] = []] = await inOrder(run, [lastChange, noted])
  const storedAt = timeAfter(last, now)
  const { noteReplaced, settle } = merge.held
  const replaced = replaces && noteReplaced !== undefined ? [noteReplaced] : []
  const changes = merge.changes({ adds, replaces, storedAt }).map(
    ({ text, values }) =>
      () =>
        runOne(run, text, values),
  )
  const ended = replaced.length > 0 || stored.isLetGo ? settle : []
  const texts = (statements: readonly string[]) => statements.map((text) => () => runOne(run, text))
  await inOrder(run, [
    ...texts(replaced),
    () => storing(() => inOrder(run, changes)).then(() => []),
    ...texts([...ended, ...(stored.last ?? [])]),
  ])
  return storedAt
}

type Rows = readonly NamedRow[]

const runOne = (run: MergeRun, text: string, values: readonly Value[] = []): Promise<Rows> =>
  run.session.rows({ text, values, prepare: run.isPipelined })

/** Runs steps one after the other. A pipeline sends all of them before the first has ended. */
async function inOrder(
  { isPipelined }: Pick<MergeRun, 'isPipelined'>,
  steps: readonly (() => Promise<Rows>)[],
): Promise<Rows[]> {
  if (isPipelined) return await Promise.all(steps.map((step) => step()))
  const found: Rows[] = []
  for (const step of steps) found.push(await step())
  return found
}

/**
 * The time of a merge, by the row of `lastChange`: now, but later than every change before it,
 * whatever the clock says.
 */
function timeAfter(last: NamedRow | undefined, now: bigint): bigint {
  const lastChange = optionalWhole(last ?? {}, 'changed_at') ?? 0n
  return now > lastChange ? now : lastChange + 1n
}
