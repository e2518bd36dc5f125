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
} as const
