import type { ImportOrigin, MergeOrigin, MergeReport } from '../records/import.ts'
import type { Session } from '../session.ts'

/** How many staged records each file has, by its number. A file without one has no entry. */
export type CountedFiles = ReadonlyMap<number, number>

/** What an import did with the records of one file, equal ones included. */
export type FileCounts = {
  readonly records: number
  readonly added: number
  readonly changed: number
}

export const stagedByFile = 'select file, count(*) as records from staged group by file'

/** How many known lines each file has. */
export const knownByFile = 'select file, count(*) as records from known group by file'

export async function countByFile({ rows }: Session, text: string): Promise<CountedFiles> {
  const found = await rows({ text })
  return new Map(found.map(({ file, records }) => [Number(file), Number(records)]))
}

type Counted = {
  /** Without those that were rejected. */
  readonly staged: CountedFiles
  /** Lines that were not staged, because their records are stored as they are. */
  readonly known: CountedFiles
  /** Those that add or change a stored record. */
  readonly remaining: CountedFiles
  /** Those that change one. */
  readonly replaced: CountedFiles
}

function countsOfFile(file: number, { staged, known, remaining, replaced }: Counted): FileCounts {
  const [inTable = 0, unstaged = 0, left = 0, changed = 0] = [
    ...[staged, known, remaining, replaced].map((of) => of.get(file)),
  ]
  return { records: inTable + unstaged, added: left - changed, changed }
}

/** The report of a merge that went well. Equal repeats within the files are not counted here. */
export function reportOf(
  { remaining, replaced }: Counted,
  {
    ids,
    rejected,
    withdrawn,
  }: Pick<MergeReport, 'rejected' | 'withdrawn'> & { readonly ids: number },
): MergeReport {
  const [left, changed] = [sumOf(remaining), sumOf(replaced)]
  const counts = { rejected, withdrawn, added: left - changed, changed, unchanged: ids - left }
  return { faults: [], faultCount: 0, ...counts }
}

export const sumOf = (counted: CountedFiles): number =>
  [...counted.values()].reduce((sum, records) => sum + records, 0)

/** The journal's entries: one for each file that a command imports. */
export const filesOf = (
  origins: readonly MergeOrigin[] = [],
  counted: Counted,
): readonly (readonly [ImportOrigin, FileCounts])[] =>
  origins.flatMap(({ from }, file) =>
    'clientId' in from ? [] : [[from, countsOfFile(file, counted)] as const],
  )
