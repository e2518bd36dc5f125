import { createReadStream } from 'node:fs'
import { pipeline } from 'node:stream'
import { limitsOf, openFileDecipher, sealAnswer } from '@bursar/base'
import { contractLimits, type RecordRules, resourceOf } from '@bursar/contract'
import type { Store } from '@bursar/records'
import { type ImportReport, importEntries } from '../files/import-file.ts'
import { readContent } from '../files/reading/content.ts'
import { readNdjson } from '../files/reading/lines.ts'
import { requestBounds, requestReading } from '../files/reading/request-reading.ts'
import { countsOf } from '../note-import.ts'
import { type StreamJob, type StreamProgress, storedOf } from './stream-job.ts'

const limits = limitsOf({
  /** A stream that is read reports after so many records. */
  streamProgressRecords: 500,
})

type StreamImport = {
  readonly store: Pick<Store, 'operator'>
  readonly rules: RecordRules
  readonly tell: (progress: StreamProgress) => void
}

/** Reads, checks, stages and merges the records of a stream that was received whole. */
export async function importStream(
  { kind, path, key, isGzip, sha256, clientId, customerId, row, ...job }: StreamJob,
  { store, rules, tell }: StreamImport,
): Promise<ImportReport> {
  const file = createReadStream(path)
  // A failure of the file ends the reading of what it deciphers to.
  const body = pipeline(file, openFileDecipher(key), () => {})
  try {
    const content = readContent(body, { isGzip, bytesRead: () => file.bytesRead }, requestBounds)
    const entries = readNdjson(
      content,
      requestReading(() => undefined),
    )
    return await importEntries(store, resourceOf(kind), entries, {
      dryRun: false,
      allowOlder: job.allowOlder,
      takeOver: job.takeOver,
      expected: { mayBeEmpty: true },
      faultsMax: contractLimits.faultsAnsweredMax,
      customerId,
      rules,
      origin: { command: 'POST', clientId },
      onProgress: (read) => {
        if (read % limits.streamProgressRecords === 0) tell({ phase: 'reading' })
      },
      onMerge: () => tell({ phase: 'merging' }),
      row: (report) => ({
        id: row.id,
        counts: countsOf(report),
        digests: undefined,
        answer: job.keepsAnswer
          ? sealAnswer(row.answerKey, row.id, JSON.stringify(storedOf(report, sha256)))
          : undefined,
      }),
    })
  } finally {
    file.destroy()
  }
}
