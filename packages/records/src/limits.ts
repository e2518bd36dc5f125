import { limitsOf } from '@bursar/base'

/** Limits that several files share, here or in other packages. */
export const recordsLimits = limitsOf({
  /** Records that one step seals again, some 5 ms, and the pause after it. */
  resealedTogether: 100,
  resealRestMs: 20,
  /** Places that a step of a list of all customers reads, about 1 ms. */
  acrossRowsTogether: 1000,
  /** Records of one matter that staff get counted or added. */
  attentionRowsMax: 10_000,
  /** For so long a clock must have been steady, after a jump, before quotes are swept. */
  quoteSweepSteadyDays: 7,
  /** The deadline of one quote. */
  quoteIssueMs: 5000,
  /**
   * Records of one client or customer in a batch, while another one has sent one within a minute.
   * To store so many takes about as long as what every commit costs, so the other one waits little
   * longer than it would alone.
   */
  recordsPerTurnMax: 16,
  /** The deadline of one record. */
  recordPutMs: 5000,
  /**
   * The embedded store: how long a record waits for the lock of a merge, which may last minutes.
   */
  recordLockedMs: 1000,
  /** How long a record waits at a time, in a session, for a lock that a merge holds. */
  putCustomerMs: 2000,
  /** What is left of the time of a record that waited for locks, once it has them. */
  lockedPutMs: 500,
  /**
   * Entries of the log of changes, or fee quotes, that one step of an erasure reads: 10 to 30 ms.
   */
  erasedEntriesTogether: 5000,
  /** How long an entry may take on the embedded store, as a quote. */
  auditWriteMs: 5000,
  /** Ids in one line, as many as a batch of single records has: 8 KB. */
  auditIdsPerLineMax: 200,
  /** Lines that a reader of the log takes at a time: some megabytes at most. */
  auditPageLines: 500,
  /** The embedded store: how long a start, a command or an import waits for a merge to end. */
  storeLockWaitMs: 60_000,
  /** Gets that share a statement, statements in flight, and gets that may wait. */
  getsPerStatementMax: 100,
  getStatementsMax: 2,
  getsWaitingMax: 5000,
  /** An import ends at this many faults of form. It counts all conflicts, and lists as many. */
  faultsReportedMax: 1000,
})
