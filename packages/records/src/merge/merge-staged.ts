import { isSealedKind, type Resource } from '@bursar/contract'
import type { Dialect } from '../dialect.ts'
import { storeRow } from '../imports/store-row.ts'
import { type MergeOptions, type MergeReport, noFaults } from '../records/import.ts'
import { text } from '../row.ts'
import type { Seals } from '../sealing/seals.ts'
import { holds, type Session } from '../session.ts'
import { stageLosers } from './conflict-queries.ts'
import { storeStaged, takeValues } from './merge-order.ts'
import type { MergeStatements } from './merge-statements.ts'
import { dropRepeats } from './staging.ts'

type MergeParts = Pick<MergeOptions, 'dryRun' | 'takeOver' | 'origins' | 'row'> & {
  readonly dialect: Dialect
  readonly merge: MergeStatements
  readonly now: bigint
  readonly rejected: number
  readonly left: Left
  readonly storing: Storing
}

/** Runs the statements of a merge, which adds so many records and writes so many. */
export type Storing = (
  counts: { readonly added: number; readonly written: number },
  store: () => Promise<unknown>,
) => Promise<unknown>

/** The staged records of each file. */
export type Left = {
  readonly staged: CountedFiles
  /** Those that repeat no earlier one. */
  readonly unique: CountedFiles
  /** Those of them that change something, and of these the ones that replace a stored record. */
  readonly changing: CountedFiles
  readonly replacing: CountedFiles
}

type LeavingParts = Pick<MergeParts, 'dialect' | 'merge'> & {
  readonly seals: Pick<Seals, 'open'>
  /** Whether an id is staged twice. */
  readonly repeats: boolean
}

/** Leaves the staged records that change something. In the transaction that stores them. */
export async function leaveChanging(
  session: Session,
  resource: Resource,
  { repeats, ...parts }: LeavingParts,
): Promise<Left> {
  const { merge } = parts
  const byFile = () =>
    countByFile(session, 'select file, count(*) as records from staged_line group by file')
  const staged = await byFile()
  if (repeats) await session.run(dropRepeats)
  const unique = repeats ? await byFile() : staged
  if (!(await holds(session, merge.hasReplaced))) {
    return { staged, unique, changing: unique, replacing: new Map() }
  }
  if (merge.keepDeletions !== undefined) await session.run(merge.keepDeletions)
  if (isSealedKind(resource)) await replaceDamaged(session, resource, parts)
  await session.run(merge.dropUnchanged)
  const changing = await byFile()
  return { staged, unique, changing, replacing: await countByFile(session, merge.countReplaced) }
}

/** Merges what is left, once nothing of it conflicts. In the same transaction. */
export async function mergeStaged(
  session: Session,
  resource: Resource,
  parts: MergeParts,
): Promise<MergeReport> {
  const { dialect, merge, now, row, dryRun, takeOver = false, rejected } = parts
  const { left, origins = [] } = parts
  const run = { session, dialect, merge, now, isPipelined: false }
  const withdrawn = takeOver ? await takeValues(run, stageLosers(resource, dialect)) : 0
  const [changing, changed] = [sumOf(left.changing), sumOf(left.replacing)]
  const added = changing - changed
  // Equal repeats within the files are not counted here.
  const unchanged = sumOf(left.unique) - changing
  const report = { ...noFaults, rejected, withdrawn, added, changed, unchanged }
  if (dryRun) return report
  // A changed record is stored beside its previous version.
  const counts = { added, written: added + 2 * (changed + withdrawn) }
  const storedAt = await storeStaged(run, {
    origins: origins.map((origin, file) => ({ file, ...origin, takesOver: takeOver })),
    adds: added > 0,
    replaces: changed + withdrawn > 0,
    isLetGo: takeOver || rejected > 0,
    storing: (store) => parts.storing(counts, store),
  })
  // Last, so that the row is locked for no longer than the commit.
  if (row !== undefined) await storeRow(session, dialect, { ...row(report), storedAt })
  return report
}

/**
 * Marks the staged records whose content is stored in a body that does not open, so that they
 * replace it.
 */
async function replaceDamaged(
  session: Session,
  resource: Resource,
  { dialect, seals, merge }: Omit<LeavingParts, 'repeats'>,
): Promise<void> {
  const damaged: number[] = []
  for await (const row of session.iterate({ text: merge.sameBodies })) {
    const [customerId, id] = [text(row, 'customer_id'), text(row, 'id')]
    const [body, checksum] = [text(row, 'body'), Number(row.checksum)]
    const opened = seals.open(resource, { customerId, id, body, checksum })
    // Most keys are in memory.
    if ('fault' in (opened instanceof Promise ? await opened : opened))
      damaged.push(Number(row.sequence))
  }
  if (damaged.length === 0) return
  const isDamaged = dialect.isAnyOf('sequence', dialect.parameter(1, 'bigint[]'))
  await session.rows({
    text: `update staged_line set mends = 1 where ${isDamaged}`,
    values: [dialect.list(damaged)],
  })
}

/** How many records each file has, by its number. A file without one has no entry. */
type CountedFiles = ReadonlyMap<number, number>

async function countByFile({ rows }: Session, text: string): Promise<CountedFiles> {
  const found = await rows({ text })
  return new Map(found.map(({ file, records }) => [Number(file), Number(records)]))
}

const sumOf = (counted: CountedFiles): number => counted.values().reduce((a, b) => a + b, 0)
