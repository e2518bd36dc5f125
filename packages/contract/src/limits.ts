import { limitsOf } from '@bursar/base'

/** Limits that several files share, here or in other packages. */
export const contractLimits = limitsOf({
  /**
   * Customers and periods that an answer about what needs attention names, and assets of
   * shortfalls.
   */
  attentionCustomersMax: 10,
  attentionPeriodsMax: 24,
  startsMax: 20,
  /** Records of a page of a list of all customers: as many as a person looks at. Each is parsed. */
  acrossPageMax: 100,
  /** Rows that an integrity check holds in memory at a time: about 1 MB. */
  checkedRowsMax: 500,
  /**
   * The merge of a stream on PostgreSQL: 5 GB at 20 MB/s. The records of its customers wait for it.
   */
  streamMergeMs: 300_000,
  /** Records of a page (contract, section 8), and its default. Statements have the same limit. */
  pageSizeMax: 1000,
  pageSizeDefault: 100,
  /** Events of a page, as the public API of this family has it. */
  eventsPageMax: 100,
  /** Contract, section 8: entries of one identifier filter. */
  filterEntriesMax: 100,
  /** Bounds an index entry. No core system issues longer identifiers. */
  identifierLengthMax: 200,
  /** `If-None-Match`: some 40 entity tags. */
  entityTagsLengthMax: 2048,
  /** No operation computes for longer; a client that is still sending after this time is gone. */
  requestTimeoutMs: 15_000,
  /** The content of a stream: two million accounts. The command imports larger files. */
  streamBytesMax: 2 * 1024 ** 3,
  /** Faults that an answer lists; a client that needs more of them imports the file. */
  faultsAnsweredMax: 100,
  /** The newest changes that are answered. */
  latestChangesMax: 25,
  /** Customers of one page, each with its counts of every kind: about 500 bytes. */
  customersPageMax: 100,
  /** How long a check of `doctor` may take, before it counts as failed. */
  doctorCheckMs: 15_000,
  /** A listener closes after this time, even if somebody still connects. */
  listenerSettleMsMax: 2000,
  /** After the listener has closed, requests in flight have this long to finish. */
  drainTimeoutMs: 10_000,
  /** Ignored parameters that an answer names: enough to find a spelling, few for a header. */
  ignoredNamesMax: 10,
  /** One record of an import. The largest valid record is far smaller. */
  recordBytesMax: 1024 * 1024,
  /** Bounds what is decoded before a signature is checked. Bursar's tokens have 700 characters. */
  tokenLengthMax: 8192,
  /** Customers of a sandbox: a test run has one for each test. Bounds all that follows. */
  sandboxCustomersMax: 2000,
  /** Each is a copy of both databases, some 5 MB. */
  sandboxSnapshotsMax: 20,
  /** Faults of all customers in one list, about 300 bytes each. */
  sandboxFaultsListed: 1000,
})
