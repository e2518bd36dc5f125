export { describeImport } from './describe-import.ts'
export type { Entry } from './entry.ts'
export {
  type ImportFault,
  type ImportReport,
  importEntries,
  importFiles,
} from './files/import-file.ts'
export { readNdjson, UnreadableFile } from './files/reading/lines.ts'
export { openRecordFile, type RecordFile } from './files/reading/read.ts'
export { requestReading } from './files/reading/request-reading.ts'
export { openRejectsFile, type RejectsFile } from './files/rejects.ts'
export type { RejectedLine } from './files/stage-file.ts'
export { countsOf, failureOfError, failureOfReport } from './note-import.ts'
export { recordRules } from './record-rules.ts'
export { refusedRecords } from './refused-records.ts'
export { renderRecord } from './render.ts'
export { openForeignValues } from './requests/foreign-values.ts'
export { importWorks } from './requests/import-works.ts'
export { type RecordDeps, recordWorks } from './requests/record-works.ts'
export { openStreamGate } from './requests/stream-gate.ts'
export { type StreamDeps, streamWork } from './requests/stream-work.ts'
export { checkStored, listFaults, type StoredReport } from './stored/check-stored.ts'
export { compareKind } from './stored/compare-kind.ts'
export { describeAll } from './stored/describe-faults.ts'
export { startRecordWalk } from './stored/record-walk.ts'
export { reindexKind } from './stored/reindex.ts'
export { importStream } from './writer/import-stream.ts'
export {
  type FromWriter,
  type KeysAnswer,
  type KeysRequest,
  type StreamJob,
  type ToWriter,
  WRITER_WORD,
} from './writer/stream-job.ts'
export { openWriters, type Writers } from './writer/writers.ts'
