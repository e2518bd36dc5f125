/** Every bound of the service in one place, each with its reason. */
export const limits = {
  /** Contract, section 8, and for statements the same (decisions: all four lists). */
  pageSizeMax: 1000,
  pageSizeDefault: 100,
  /** Contract, section 8: entries of one identifier filter. */
  filterEntriesMax: 100,
  /** No identifier that a core system issues is longer; it bounds an index entry. */
  identifierLengthMax: 200,
  /** The largest body an operation takes is a fee request of a few hundred bytes. */
  bodyBytesMax: 16 * 1024,
  /**
   * Request line and headers. Node's own 16 KiB would refuse lists that use the 100 entries they may have: a filter of
   * 100 UUIDs takes 5 KB, one of 100 references of 200 characters 21 KB, and 240 KB where every character is escaped.
   */
  headerBytesMax: 256 * 1024,
  /** Nothing is computed for longer than this, so a client that has not sent its request by then is gone. */
  requestTimeoutMs: 15_000,
  headersTimeoutMs: 10_000,
  /** Longer than the idle time of the usual load balancers (60 s), so that they close first. */
  keepAliveTimeoutMs: 72_000,
  connectionsMax: 10_000,
  /** What is in flight at a shutdown has this long to be answered. */
  drainTimeoutMs: 10_000,
  /** A worker that has drained still closes its stores; then it hangs. */
  workerDrainGraceMs: 2000,
  /** A worker that dies sooner has most likely died of its start, so the next one waits, longer each time. */
  workerSettledMs: 10_000,
  workerDelayMsMax: 30_000,
  requestIdLengthMax: 128,
  /** One record of an import; the largest legal one is far below. */
  recordBytesMax: 1024 * 1024,
  /** An import reports this many faults and counts the rest. */
  faultsReportedMax: 1000,
  /** A fee quote is kept so long that expired, consumed and unknown stay apart for whoever reconciles a quarter. */
  quoteKeptDays: 90,
  /** A batch of a sweep takes a few milliseconds; with its rest, five thousand quotes go in a second. */
  quoteSweepRows: 500,
  quoteSweepRestMs: 100,
  quoteSweepIdleMs: 60_000,
  /** Quotes that share a commit; a full one takes some ten milliseconds. */
  quotesPerCommitMax: 1000,
  /** Quotes that may wait for the commit under way, and how long a quote may take in all. */
  quotesWaitingMax: 5000,
  quoteIssueMs: 5000,
  /** How long a request may wait for one of its process's database sessions, gathering included, and how many may wait for each. */
  databaseWaitMs: 400,
  databaseWaitingPerSession: 50,
  /** Every database server is looked at so often: a new primary is found, a standby's lag is known. */
  databaseLookIntervalMs: 500,
  /** Gets that share a statement, statements of one kind at a time, and gets that may wait for the next. */
  getsPerStatementMax: 100,
  getStatementsMax: 2,
  getsWaitingMax: 5000,
  /** The same of pages, by the records that they ask for; on two cores four statements keep a server at work. */
  pageRowsPerStatementMax: 800,
  pageStatementsMax: 4,
  pagesWaitingMax: 1000,
  /** While no primary is to be found nobody can say how old a standby is; for so long it is trusted to be near enough. */
  databasePrimaryLostMs: 300_000,
  /** A lost session that listens for changes is made anew after so long; changes that come faster are heard of together. */
  databaseListenRetryMs: 500,
  databaseChangeRestMs: 100,
} as const
