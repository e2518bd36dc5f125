import { setLimit } from '../../packages/base/src/declare-limits.ts'

/**
 * Deadlines at which the product gives something up, which a busy machine meets: an hour in each
 * test that is not about them. This module comes before all others, as a preload of a program that
 * a test starts (`node --import`), because the program reads some limits when it is loaded.
 * Deadlines of drain, stop and flush stay: a leak would wait for them.
 */
const hourMs = 3_600_000

export const patientLimits: Readonly<Record<string, number>> = {
  // Requests and their answers.
  requestTimeoutMs: hourMs,
  headersTimeoutMs: hourMs,
  streamTimeoutMs: hourMs,
  answerTakenMs: hourMs,
  unsentWaitMs: hourMs,
  attentionMs: hourMs,
  changesListedMs: hourMs,
  feeAnnouncedMs: hourMs,
  metricsMergedMs: hourMs,
  healthcheckMs: hourMs,
  // Writes of the stores.
  recordPutMs: 2 * hourMs,
  recordLockedMs: hourMs,
  lockedPutMs: hourMs / 6,
  firstKeyMs: hourMs,
  quoteIssueMs: hourMs,
  auditWriteMs: hourMs,
  storeWriteMs: hourMs,
  storeLockWaitMs: hourMs,
  storeLockedMs: hourMs,
  issuerClaimMs: hourMs,
  mergeLockMs: hourMs,
  mergeSessionMs: hourMs,
  streamMergeMs: hourMs,
  streamWaitMs: hourMs,
  writerMergeMs: hourMs,
  writerSilenceMs: hourMs,
  importLockMs: hourMs,
  consumptionIdleMs: hourMs,
  // Sessions and checks.
  databaseWaitMs: hourMs,
  poolerLookMs: hourMs,
  walkStatementMs: hourMs,
  walkStepMs: hourMs,
  doctorCheckMs: hourMs,
  doctorCountsMs: hourMs,
  // Other programs and services.
  issuerTimeoutMs: hourMs,
  keyCommandMs: hourMs,
}

for (const [name, value] of Object.entries(patientLimits)) setLimit(name, value)
