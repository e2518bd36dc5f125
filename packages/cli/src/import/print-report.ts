import { counted, printable } from '@bursar/base'
import type { ImportFault, ImportReport } from '@bursar/intake'
import { CommandFailed, type Output, printResult } from '../output.ts'

type Printed = {
  readonly paths: readonly string[]
  readonly seconds: number
  /** The files of rejected records, by the number of the input. Undefined if none was written. */
  readonly rejects: ReadonlyMap<number, string> | undefined
  readonly dryRun?: boolean | undefined
  readonly json?: boolean | undefined
}

/** Prints what an import did. Throws a CommandFailed unless all of it is stored. */
export function printReport(output: Output, report: ImportReport, printed: Printed): void {
  const { paths, rejects, dryRun = false } = printed
  const { faults, faultCount, warnings, warningCount, mayHaveMoreFaults, files, ...counts } = report
  const names = paths.map((path) => (path === '-' ? 'stdin' : printable(path, 1000)))
  const nameOf = ({ file = 0 }: Pick<ImportFault, 'file'>) => names[file]
  for (const fault of faults) {
    const { line, member, reason } = fault
    const name = nameOf(fault)
    output.tell(line === 0 ? `${name}: ${reason}` : `${name}:${line}: ${member}: ${reason}`)
  }
  if (faultCount > faults.length) output.tell(`and ${faultCount - faults.length} more`)
  if (mayHaveMoreFaults) output.tell('reading ended here; there may be more faults')
  for (const warning of warnings) {
    const { line, member, reason } = warning
    output.tell(`${nameOf(warning)}:${line}: warning: ${member}: ${reason}`)
  }
  if (warningCount > warnings.length) {
    output.tell(`and ${counted(warningCount - warnings.length, 'more warning')}`)
  }
  for (const [at, { blankRows }] of files.entries()) {
    if (blankRows > 0) output.tell(`${names[at]}: ${counted(blankRows, 'blank row')} skipped`)
  }
  for (const [file, path] of rejects ?? []) {
    const rejected = counted(files[file]?.rejected ?? 0, 'rejected record')
    output.tell(`${names[file]}: ${rejected}, in ${printable(path, 1000)} with the reasons`)
  }
  const named = <T extends Pick<ImportFault, 'file'>>({ file, ...found }: T) => ({
    ...(file !== undefined && { file: paths[file] }),
    ...found,
  })
  const document = {
    ...counts,
    seconds: printed.seconds,
    dry_run: dryRun,
    files: files.map(({ records, rejected, blankRows, sha256 }, at) => ({
      file: paths[at],
      records,
      rejected,
      blank_rows: blankRows,
      sha256: sha256 ?? null,
      ...(rejects?.has(at) && { rejects: rejects.get(at) }),
    })),
    fault_count: faultCount,
    ...(mayHaveMoreFaults && { more: true }),
    faults: faults.map(named),
    warning_count: warningCount,
    warnings: warnings.map(named),
  }
  printResult(output, printed, document, faultCount > 0 ? [] : [lineOf(report, printed)])
  const what = names.length === 1 ? names[0] : counted(names.length, 'file')
  if (faultCount > 0) {
    const least = mayHaveMoreFaults ? 'at least ' : ''
    throw new CommandFailed(`${what}: ${least}${counted(faultCount, 'fault')}; nothing was changed`)
  }
  if (counts.rejected > 0) {
    const all = counted(counts.records, 'record')
    throw new CommandFailed(`${what}: ${counts.rejected} of ${all} rejected`, { exitCode: 3 })
  }
}

function lineOf(report: ImportReport, { paths, rejects, dryRun }: Printed): string {
  const { records, added, changed, unchanged, rejected, withdrawn } = report
  const ofFiles = paths.length === 1 ? '' : ` in ${counted(paths.length, 'file')}`
  const ofRejects = rejects === undefined ? '' : `, ${rejected} rejected`
  const ofOthers =
    withdrawn === 0 ? '' : `, ${counted(withdrawn, 'record')} of other customers withdrawn`
  const note = dryRun === true ? ' (dry run: nothing was changed)' : ''
  return `${counted(records, 'record')}${ofFiles}: ${added} added, ${changed} changed, ${unchanged} unchanged${ofRejects}${ofOthers}${note}`
}
