import { dirname } from 'node:path'
import { type SealedRecord, StoreUnavailable } from '@bursar/records'
import { isFailedWrite } from '../database.ts'

/** The least that an import takes: staged records in temporary files, with an index and a sort. */
const SPACE_PER_FILE_BYTE = 2.5
/** A merge writes each record to the log, and from there to the database. */
const COPIES = 2
/** Keys, columns and index entries of a record, beside its bodies. */
const BYTES_BESIDE_BODIES = 500
const STAGED_BYTES_PER_CHECK = 32 * 1024 * 1024

export type ImportSpace = {
  /** Notes a staged record. */
  add(record: Pick<SealedRecord, 'stored' | 'masked' | 'raw'>): void
  /** Checks before a merge that writes so many of the staged records. */
  requireForMerge(recordsWritten: number): void
}

/**
 * Checks that the disk of a database has room for an import. The first check counts the bytes of
 * its file. The second counts what was staged, which bounds a pipe and a compressed file. The last
 * counts what the merge writes. Each check throws a StoreUnavailable.
 */
export function spaceFor(
  path: string,
  fileBytes: number,
  freeBytes: (folder: string) => number,
): ImportSpace {
  requireSpace(path, fileBytes * SPACE_PER_FILE_BYTE, freeBytes)
  let records = 0
  let staged = 0
  // What is staged to be written elsewhere, should the record be rejected.
  let stagedRaw = 0
  let checked = 0
  return {
    add: ({ stored, masked, raw }) => {
      records += 1
      staged += stored.length + (masked?.length ?? 0)
      stagedRaw += raw?.length ?? 0
      if (staged + stagedRaw - checked < STAGED_BYTES_PER_CHECK) return
      checked = staged + stagedRaw
      // The temporary files may be on this disk. Index and sort will take as much again.
      requireSpace(path, checked, freeBytes)
    },
    requireForMerge: (recordsWritten) => {
      const recordBytes = staged / Math.max(1, records) + BYTES_BESIDE_BODIES
      requireSpace(path, recordsWritten * recordBytes * COPIES, freeBytes)
    },
  }
}

/** A full disk would stop fees and revocations too, because their database is on it. */
function requireSpace(
  path: string,
  bytesNeeded: number,
  freeBytes: (folder: string) => number,
): void {
  const folder = dirname(path)
  const free = freeBytes(folder)
  if (free >= bytesNeeded) return
  throw new StoreUnavailable(
    `the import needs about ${printBytes(bytesNeeded)} of free disk space in ${folder}, which has ${printBytes(free)}; nothing was changed; free some, then run it again`,
  )
}

/** A StoreUnavailable if the disk is full, or fails, while an import writes; else the error. */
export function failedWrite(place: string, error: unknown): unknown {
  if (!isFailedWrite(error)) return error
  const reason = (error as Error).message
  return new StoreUnavailable(
    `the records could not be stored: ${reason}; nothing was changed; check ${place}, then run the import again`,
    { cause: error },
  )
}

function printBytes(bytes: number): string {
  const [divisor, unit] = bytes >= 1e9 ? [1e9, 'GB'] : [1e6, 'MB']
  return `${(bytes / divisor).toFixed(1)} ${unit}`
}
