import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { isOutOfDescriptors } from '../../../platform/machine/exhaustion.ts'
import { type RecordKind, recordKinds } from '../../../resources/catalogue.ts'
import type { KeptMarks } from '../../integrity/damage.ts'
import { besidePath } from '../files/require-files.ts'

/**
 * One file for each kind whose tables are damaged, beside the database: damage of the database
 * cannot remove it, and every process and every later start sees it.
 */
export function openMarkFiles(path: string): KeptMarks {
  const fileOf = (kind: string) => besidePath(path, `${kind}.damaged`)
  const faultIn = (kind: RecordKind): readonly [string, string][] => {
    try {
      return [[kind, readFileSync(fileOf(kind), 'utf8').trim()]]
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
      if (isOutOfDescriptors(error)) throw error
      // A mark that cannot be read is still one.
      return [[kind, 'its mark cannot be read']]
    }
  }
  return {
    all: () => new Map(recordKinds.flatMap(faultIn)),
    add: (kind, fault) => {
      writeFileSync(fileOf(kind), `${fault}\n`, { mode: 0o600, flush: true })
    },
    remove: (kind) => rmSync(fileOf(kind), { force: true }),
  }
}

export function removeMarkFiles(path: string): void {
  const marks = openMarkFiles(path)
  for (const kind of recordKinds) marks.remove(kind)
}
