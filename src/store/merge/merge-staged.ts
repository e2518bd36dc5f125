import type { Resource } from '../../contract/resource.ts'
import type { Dialect } from '../dialect.ts'
import { AlreadyAnswered } from '../records/history.ts'
import type { MergeOptions, MergeOrigin, MergeReport } from '../records/import.ts'
import { isTrue, type NamedRow, optionalWhole } from '../row.ts'
import type { Session } from '../session.ts'
import { stageLosers } from './conflict-queries.ts'
import { countByFile, filesOf, knownByFile, reportOf, stagedByFile, sumOf } from './file-counts.ts'
import { writeJournal } from './journal.ts'
import { keepOnce } from './kept-answers.ts'
import type { MergeStatements } from './merge-statements.ts'
import { noteOrigin } from './origins.ts'
import { dropRepeats, mergeTime } from './staging.ts'

type MergeParts = Pick<MergeOptions, 'dryRun' | 'takeOver' | 'origins' | 'answering'> & {
  readonly dialect: Dialect
  readonly merge: MergeStatements
  readonly now: bigint
  readonly rejected: number
  /** Whether an id is staged twice. */
  readonly repeats: boolean
  /** Whether a staged record replaces a stored one. */
  readonly hasReplaced: boolean
  readonly storing: Storing
}

/** Runs the statements of a merge, which adds so many records and writes so many. */
export type Storing = (
  counts: { readonly added: number; readonly written: number },
  store: () => Promise<void>,
) => Promise<void>

/** Merges staged records that conflict with nothing, in the transaction that has checked them. */
export async function mergeStaged(
  session: Session,
  resource: Resource,
  parts: MergeParts,
): Promise<MergeReport> {
  const { dialect, merge, now, answering, dryRun, takeOver = false, rejected } = parts
  const { repeats, hasReplaced, origins = [] } = parts
  const staged = await countByFile(session, stagedByFile)
  if (repeats) await session.run(dropRepeats)
  const unique = repeats ? await countByFile(session, stagedByFile) : staged
  if (hasReplaced) {
    if (merge.keepDeletions !== undefined) await session.run(merge.keepDeletions)
    await session.run(merge.dropUnchanged)
  }
  const counted = {
    staged,
    known: await countByFile(session, knownByFile),
    remaining: hasReplaced ? await countByFile(session, stagedByFile) : unique,
    replaced: hasReplaced ? await countByFile(session, merge.countReplaced) : new Map(),
  }
  const losers = { text: stageLosers(resource, dialect), values: [now] }
  const withdrawn = takeOver ? (await session.rows(losers)).length : 0
  const report = reportOf(counted, { ids: sumOf(unique), rejected, withdrawn })
  if (dryRun) return report
  const { added, changed } = report
  const [last] = await session.rows({ text: merge.lastChange })
  const storedAt = timeAfter(last, now)
  await noteOrigins(session, dialect, origins, takeOver)
  // A changed record is stored beside its previous version.
  await parts.storing({ added, written: added + 2 * (changed + withdrawn) }, async () => {
    const does = { adds: added > 0, replaces: changed + withdrawn > 0, storedAt }
    for (const statement of merge.changes(does)) await session.rows(statement)
  })
  for (const [origin, counts] of filesOf(origins, counted)) {
    await writeJournal(session, dialect, { kind: resource.kind, storedAt, origin, counts })
  }
  if (answering !== undefined && !(await keepOnce(session, dialect, answering(report), now))) {
    throw new AlreadyAnswered()
  }
  return report
}

/** The time of a merge, by the row of `lastChange`. */
export const timeAfter = (last: NamedRow | undefined, now: bigint): bigint =>
  mergeTime(now, optionalWhole(last ?? {}, 'changed_at') ?? 0n)

async function noteOrigins(
  session: Session,
  { tableName }: Dialect,
  origins: readonly MergeOrigin[],
  takesOver: boolean,
): Promise<void> {
  for (const [file, origin] of origins.entries()) {
    await noteOrigin(session, tableName, file, { ...origin, takesOver })
  }
}

export async function replacesStored(
  session: Session,
  { hasReplaced }: Pick<MergeStatements, 'hasReplaced'>,
): Promise<boolean> {
  const [row] = await session.rows({ text: hasReplaced })
  return isTrue(row?.has_replaced)
}
