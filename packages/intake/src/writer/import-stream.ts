import { createReadStream } from 'node:fs'
import { pipeline } from 'node:stream'
import { limitsOf, openFileDecipher } from '@bursar/base'
import { contractLimits, type RecordRules, resourceOf } from '@bursar/contract'
import type { Store } from '@bursar/records'
import { type ImportReport, importEntries } from '../files/import-file.ts'
import { readContent } from '../files/reading/content.ts'
import { readNdjson } from '../files/reading/lines.ts'
import { requestBounds, requestReading } from '../files/reading/request-reading.ts'
import { type StreamJob, type StreamProgress, storedOf } from './stream-job.ts'

const limits = limitsOf({
  /** A stream that is read reports after so many records. */
  streamProgressRecords: 500,
})

type StreamImport = {
  readonly store: Pick<Store, 'operator'>
  readonly rules: RecordRules
  /** Ends the import before its merge. */
  readonly signal: AbortSignal
  readonly tell: (progress: StreamProgress) => void
  /** Resolves when the merge may be committed. */
  readonly mayCommit: () => Promise<void>
}

/** Reads, checks, stages and merges the records of a stream that was received whole. */
export async function importStream(
  { kind, path, key, isGzip, sha256, clientId, customerId, answer, ...job }: StreamJob,
  { store, rules, signal, tell, mayCommit }: StreamImport,
): Promise<ImportReport> {
  const file = createReadStream(path)
  // A failure of the file ends the reading of what it deciphers to.
  const body = pipeline(file, openFileDecipher(key), () => {})
  const pace = () => {
    signal.throwIfAborted()
    return undefined
  }
  let records = 0
  const at = (phase: StreamProgress['phase']) => tell({ phase, records })
  try {
    const content = readContent(body, { isGzip, bytesRead: () => file.bytesRead }, requestBounds)
    const entries = readNdjson(content, requestReading(pace))
    return await importEntries(store, resourceOf(kind), entries, {
      dryRun: false,
      allowOlder: job.allowOlder,
      takeOver: job.takeOver,
      expected: { mayBeEmpty: true },
      faultsMax: contractLimits.faultsAnsweredMax,
      customerId,
      rules,
      origin: { command: 'POST', clientId },
      signal,
      onProgress: (read) => {
        records = read
        if (read % limits.streamProgressRecords === 0) at('reading')
      },
      onStep: at,
      beforeCommit: () => {
        at('committing')
        return mayCommit()
      },
      answering:
        answer &&
        ((report) => ({ clientId, ...answer, answer: JSON.stringify(storedOf(report, sha256)) })),
    })
  } finally {
    file.destroy()
  }
}
