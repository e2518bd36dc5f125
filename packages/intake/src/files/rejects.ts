import { closeSync, openSync, renameSync, rmSync, writeSync } from 'node:fs'
import { printable } from '@bursar/base'
import { NOTE } from './reading/lines.ts'
import type { RejectedLine } from './stage-file.ts'

export type RejectsFile = {
  readonly path: string
  /** Writes a record as it came, below its reasons. */
  add(rejected: Pick<RejectedLine, 'line' | 'raw' | 'faults'>): void
  /** Completes the file with what to do, or removes it if it has no record. */
  end(whatToDo: string): void
  /** Removes what was written. */
  discard(): void
}

type Options = {
  /** The file that is imported, for the first note. */
  readonly name: string
  /** The header line of CSV, once a record was read. */
  readonly header: () => string | undefined
}

/**
 * Opens a file that `import` accepts after its records were corrected. It must not exist. The
 * reasons stand above each record: two files are easily separated. Only a file that starts with a
 * note has notes, or a CSV row whose first cell begins with the mark would be lost. The records are
 * those that were staged, since standard input cannot be read twice.
 */
export function openRejectsFile(path: string, { name, header }: Options): RejectsFile {
  // Nobody takes an incomplete file for a complete one. Its records hold account numbers.
  const partial = `${path}.partial`
  const fd = openSync(partial, 'wx', 0o600)
  let hasBegun = false
  const begin = () => {
    hasBegun = true
    writeSync(fd, noteOf(`rejected records of ${name}; the last line says what to do`))
    const headerLine = header()
    if (headerLine !== undefined) writeSync(fd, `${headerLine}\n`)
  }
  return {
    path,
    add: ({ line, raw, faults }) => {
      if (!hasBegun) begin()
      const notes = faults.map(({ member, reason }) => noteOf(`line ${line}: ${member}: ${reason}`))
      writeSync(fd, notes.join(''))
      writeSync(fd, Buffer.concat([bytesOf(raw), Buffer.from('\n')]))
    },
    end: (whatToDo) => {
      if (hasBegun) writeSync(fd, noteOf(whatToDo))
      closeSync(fd)
      if (hasBegun) renameSync(partial, path)
      else rmSync(partial)
    },
    discard: () => {
      closeSync(fd)
      rmSync(partial)
    },
  }
}

/** In CSV, a quotation mark would begin a cell. */
const noteOf = (text: string): string => `${NOTE}${printable(text, 2000).replaceAll('"', "'")}\n`

/** A line without its end. */
function bytesOf(raw: string | Uint8Array): Buffer {
  if (typeof raw === 'string') return Buffer.from(raw)
  const bytes = Buffer.from(raw)
  return bytes.at(-1) === 0x0d ? bytes.subarray(0, -1) : bytes
}
