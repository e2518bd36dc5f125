/** Limits of the stores: damage, fee quotes, locks, files and sessions. */
export const storeLimits = {
  /** Customers whose keys a process keeps in memory, some 500 bytes each. */
  customerKeysMax: 20_000,
  /** Characters of opened and sealed bodies that a process keeps in memory, one byte each. */
  openedBodyCharactersMax: 24 * 1024 * 1024,
  /** Customers whose first keys an import makes; those of further ones take a commit each. */
  madeKeysMax: 20_000,
  /** Records of each kind that `doctor` reads and opens: a second or two. */
  doctorBodiesMax: 10_000,
  /**
   * Counts of records that `doctor` compares: of so many customers in a step, of at most so many
   * records of a kind, and for so long in all.
   */
  comparedCustomers: 50,
  comparedRecordsMax: 100_000,
  doctorCountsMs: 5000,
  /** Bodies that one step brings to another form, some 5 ms, and the pauses between two steps. */
  resealedTogether: 100,
  resealRestMs: 20,
  resealIdleMs: 5000,
  /** Damaged records that a process lists. With more, restoring a backup is the answer. */
  damageListedMax: 100,
  /**
   * Rows of one step of the scan for damage, and its pauses: at most 1,000 rows a second, and at
   * most 3 % of a core. A step takes 0.5 ms, and some milliseconds where it opens sealed records.
   */
  scanRows: 100,
  scanRestMs: 100,
  scanRestTimes: 32,
  /** Pause after a round over the whole store, and interval of reading damaged records again. */
  scanRoundRestMs: 60_000,
  damageLookMs: 1000,
  /** Pause after a check of all tables, as a multiple of its time: 1 % of a core. */
  tableCheckRestTimes: 100,
  /** Pause of the scan after a step that failed, such as one that found a whole table locked. */
  scanFailedRestMs: 60_000,
  /**
   * PostgreSQL: how long a step waits for a lock, how long its statement runs, and when its session
   * is dropped. The server ends the statement first, so no session stays there without a client.
   */
  scanLockMs: 300,
  scanStatementMs: 1000,
  scanStepMs: 2000,
  /**
   * Places that a step of a list of all customers reads, about 1 ms, and its steps: a page is
   * shorter where more rows than that lie between its records.
   */
  acrossRowsTogether: 1000,
  acrossStepsMax: 6,
  /** Records of one matter that staff get counted or added, and how long an answer may take. */
  attentionRowsMax: 10_000,
  attentionMs: 5000,
  /** Customers and periods that it names, and assets of shortfalls. */
  attentionCustomersMax: 10,
  attentionPeriodsMax: 24,
  startsMax: 20,
  /** Records of its page: as many as a person looks at. Each is parsed. */
  acrossPageMax: 100,
  /** Rows that an integrity check holds in memory at a time: about 1 MB. */
  checkedRowsMax: 500,
  /** How long a server that starts tries to learn of other issuers on its store. */
  issuerClaimMs: 20_000,
  issuerClaimPauseMs: 100,
  /** Quotes are kept for a quarter, so that reconciliation can tell expired from consumed. */
  quoteKeptDays: 90,
  /** The longest guarantee. A quote that expires later was issued by a clock that was ahead. */
  quoteLifeSecondsMax: 900,
  /** The newest quotes, of which the metrics count the open ones: some milliseconds. */
  openQuotesCountedMax: 5000,
  /** A batch takes a few milliseconds, and requests are served in the pause after it. */
  quoteSweepRows: 500,
  quoteSweepRestMs: 100,
  quoteSweepIdleMs: 60_000,
  /** What one run deletes at most: 14 million quotes a day, but no whole ledger in a moment. */
  quoteSweepRunRows: 10_000,
  /** A sweep refuses a clock that is further from its last run, until it was steady for so long. */
  quoteSweepJumpHours: 24,
  quoteSweepSteadyDays: 7,
  /** Two looks at a steady clock are no further apart. A run is due every minute. */
  quoteSweepLookMinutes: 5,
  /** Refusals of a sweep from one warning to the next: an hour. */
  quoteSweepRefusalsPerWarning: 60,
  /** Restored fees that `reconcile` lists: those that were open at the backup are few. */
  uncertainFeesMax: 1000,
  /** Quotes that share a commit. A full commit takes about 10 ms. */
  quotesPerCommitMax: 1000,
  /**
   * Pages of the write-ahead log before its commit copies them to the file: 32 MB. Most quotes
   * change another page of an index, which a longer log copies less often.
   */
  quoteLogPages: 4000,
  /** Quotes that may wait for the current commit, and the deadline of one quote. */
  quotesWaitingMax: 5000,
  quoteIssueMs: 5000,
  /** Records that clients put one by one: so many share a commit, which takes about 10 ms. */
  recordsPerCommitMax: 200,
  /**
   * Of one client or customer, while another one has sent a record within a minute. To store so
   * many takes about as long as what every commit costs, so the other one waits little longer than
   * it would alone. On PostgreSQL a commit costs round trips, and the wait for a standby.
   */
  recordsPerTurnMax: 16,
  putsPerTurnMax: 32,
  recordTurnsRememberedMs: 60_000,
  /**
   * PostgreSQL: batches of single records that run at a time, of all kinds, and at most so much of
   * the sessions of a pool. A batch begins beside others if the last one has run for so long: one
   * commit that waits for the disk holds up no others, and those that are quick stay large.
   */
  putBatchesMax: 3,
  putSessionsPart: 0.3,
  putsBesideMs: 20,
  /** Characters of a record that take as long to store as a small record. */
  recordWeightLength: 8192,
  /** Records that may wait for the current commit, and the deadline of one. */
  recordsWaitingMax: 2000,
  recordPutMs: 5000,
  /** The embedded store: how long one waits for the lock of a merge, which may last minutes. */
  recordLockedMs: 1000,
  /** PostgreSQL: how long a record waits for an import that stores its customer’s first key. */
  firstKeyMs: 2500,
  /**
   * PostgreSQL: how long a batch of single records, which holds customers, waits for a value that
   * another merge stores. Shorter than `deadlock_timeout`, so that the batch gives up first.
   */
  putClaimMs: 50,
  /**
   * How long a record waits at a time for a lock that a merge holds, in a session, and for how many
   * customers records wait so: with those that wait in a batch, half of the sessions of a pool.
   */
  putCustomerMs: 2000,
  lockedCustomersAwaitedMax: 4,
  /** What is left of its time for the rest of such a record, once it has its locks. */
  lockedPutMs: 500,
  /** Records that wait for locked customers, as many as wait for a commit. */
  lockedRecordsMax: 2000,
  /** Pause before a record whose value or customer another merge holds is tried again. */
  lockedRetryMs: 20,
  /** Bytes of the staging table of single records after which PostgreSQL truncates it. */
  putStagingBytesMax: 4 * 1024 * 1024,
  /** Pages of the write-ahead log after which single records are moved to their file: 32 MB. */
  putLogPages: 4000,
  /** How long the answer to an idempotency key is kept, and how many are forgotten at a time. */
  answerKeptHours: 24,
  answersForgottenMax: 100,
  /** How often a process writes what its imports do, and looks which somebody has cancelled. */
  importReportMs: 1000,
  /** How long a command that a signal ends waits for this note in the registry. */
  importNotedMs: 1000,
  /** How long the note waits for the lock by which others see that an import runs. */
  importLockMs: 5000,
  /** How long the registry keeps imports, and how many: a filter reads all of them in 10 ms. */
  importKeptDays: 30,
  importsKeptMax: 10_000,
  /** The newest ones, of which the metrics count those that run or ended in so long: 1 ms. */
  importsCountedMax: 1000,
  importsEndedCountedMs: 3_600_000,
  /** A process looks for old ones after so many imports, and deletes so many at a time. */
  importsSweptEvery: 100,
  importsSweptMax: 1000,
  /** Rows of imports that one run writes, some milliseconds, and the pause if more have ended. */
  importsWrittenMax: 100,
  importsWrittenRestMs: 50,
  /** Imports that a process remembers while the store refuses to note how they ended. */
  importsUnwrittenMax: 1000,
  /** Versions that one step of pruning reads, a few milliseconds, and the pause after it. */
  pruneRows: 500,
  pruneRestMs: 100,
  /**
   * Rows that one step of an erasure deletes, and entries of the log of changes or fee quotes that
   * it reads: 10 to 30 ms each. Writers have their turn in the pause after it.
   */
  erasedRowsTogether: 500,
  erasedEntriesTogether: 5000,
  eraseRestMs: 30,
  /** PostgreSQL: how long a compaction waits for a table, whose readers wait too, and how often. */
  compactLockMs: 2000,
  compactAttemptsMax: 10,
  /** Every running server refuses a client so long after it was disabled. */
  clientRefusedMs: 10_000,
  /** Consumptions that share a commit, and that may wait for it. A full one takes about 15 ms. */
  consumptionsPerCommitMax: 500,
  /** Commits at a time: one that waits for a locked quote does not hold up the others. */
  consumptionCommitsMax: 4,
  /** After this time the database ends a consumption whose process has vanished. */
  consumptionIdleMs: 5000,
  consumptionsWaitingMax: 5000,
  /** Entries of the audit log that share a commit, and that may wait for it. */
  auditEntriesPerCommitMax: 500,
  auditEntriesWaitingMax: 5000,
  /** How long an entry may take on the embedded store, as a quote. */
  auditWriteMs: 5000,
  /** Ids in one line, as many as a batch of single records has: 8 KB. */
  auditIdsPerLineMax: 200,
  /** How often a process writes what it has counted, and the head of its chain. */
  auditReportMs: 60_000,
  /** Rows of one such count: clients beyond them are counted together. */
  auditCountsMax: 1000,
  /** Lines that a reader of the log takes at a time: some megabytes at most. */
  auditPageLines: 500,
  /** The newest lines that `bursar audit` shows, unless it is given a number. */
  auditShownLines: 100,
  auditShownLinesMax: 10_000,
  /** Findings of `audit verify --json` that are listed; the rest are counted. */
  auditFindingsListedMax: 1000,
  /** How often `audit --follow` looks, and how late a line may come: its deadline, and skew. */
  auditFollowMs: 1000,
  auditLateMs: 30_000,
  /** The embedded store: how long a start, a command or an import waits for a merge to end. */
  storeLockWaitMs: 60_000,
  /** How long a write of a server waits for a lock, and the longest pause between attempts. */
  storeWriteMs: 5000,
  storeRetryMsMax: 50,
  /**
   * The same for a transaction of a server, which is short: it tries more often than an import, so
   * that it gets the lock between two merges. An attempt takes a few microseconds.
   */
  storeQueuedRetryMsMax: 5,
  /** Writes that may wait for one lock: as many as there are requests in progress. */
  storeWritesWaitingMax: 5000,
  /**
   * Pages of the embedded store that a process keeps: the upper levels of every index. The rest is
   * in the system's cache, which follows the memory that is free. To keep pages in both gains
   * nothing (decision 4).
   */
  storeCacheBytes: 16 * 1024 * 1024,
  /** How much of the write-ahead log stays on disk, and how long an import tries to empty it. */
  storeLogBytesMax: 64 * 1024 * 1024,
  storeLogEmptiedMs: 2000,
  /** How often a server looks for the log of a killed import. */
  storeLogCheckedMs: 60_000,
  /** A server looks so often at the files of its store. A look takes some 40 microseconds. */
  storeLookMs: 1000,
  /** Pause between two written pages that test the disk, while all is well: 23 MB a day. */
  storeWriteProbeMs: 30_000,
  /** How long the test waits for a lock at each look. */
  storeWriteProbeWaitMs: 50,
  /** A lock of the credentials that lasts longer is a fault. A commit takes some 10 ms. */
  storeLockedMs: 3000,
  /** Less free space is a full disk: a full batch of quotes and its log have about 1 MiB. */
  storeFreeBytesMin: 4 * 1024 * 1024,
  /** How long a request may wait for a database session, and how many may wait for each. */
  databaseWaitMs: 400,
  databaseWaitingPerSession: 50,
  /** Sessions for look-ups and changes of credentials, apart from those of records. */
  credentialSessionsMax: 4,
  /** Interval of the health check of every database server. It finds a new primary. */
  databaseHealthCheckIntervalMs: 500,
  /** New rows of an empty table from which building its indexes afterwards pays. */
  indexesBuiltAfterRowsMin: 10_000,
  /** How long the reads of one turn of the event loop take before the first answers are sent. */
  readsTogetherMs: 5,
  /** Gets that share a statement, statements in flight, and gets that may wait. */
  getsPerStatementMax: 100,
  getStatementsMax: 2,
  getsWaitingMax: 5000,
  /** The same for pages, counted in rows. Four statements keep two cores busy. */
  pageRowsPerStatementMax: 800,
  pageStatementsMax: 4,
  pagesWaitingMax: 1000,
  /**
   * Records that a past page of a shared statement visits, for each record of the page: those that
   * came later and those that were deleted are in the way. One that needs more is read by itself.
   */
  pastVisitsPerRecord: 4,
  /** Without a primary nobody knows how old a standby is. It is read from for this long. */
  databasePrimaryLostMs: 300_000,
  /** Delay before a session that is kept is reopened, and pause between two notifications. */
  databaseSessionRetryMs: 500,
  databaseChangeRestMs: 100,
  /** Customers of one query for all readers that wait: some 2 ms on the embedded store. */
  countedTogether: 500,
  /** Versions of one entry of the log of changes, and customers that are added to it together. */
  changesPerEntryMax: 500,
  changedCustomersTogether: 500,
  /** How often one request adds to the log, and how long it waits for the store to do so. */
  changeRoundsMax: 20,
  changesListedMs: 1000,
  /** Entries that one page of the log reads at most: as many as a page has events. */
  changeEntriesMax: 1000,
  /** How often the embedded store looks for a commit of another connection: some microseconds. */
  storeChangesLookMs: 50,
  /** How often PostgreSQL is asked for changes where a pooler forbids LISTEN. */
  databaseChangesLookMs: 1000,
  /** How often readers whose time is over are answered, where nothing need be looked for. */
  readersLookMs: 250,
  /** Commits of so long a time share a notification. */
  notifiedTogetherMs: 20,
  /** Names of customers in one: 12 bytes each, of the 8,000 that a notification may have. */
  notifiedNamesMax: 600,
  /** With more customers than this, a merge tells every reader to look. */
  notifiedCustomersMax: 6000,
  /** How often PostgreSQL looks whether the client of a statement that runs for long is gone. */
  databaseClientCheckMs: 5000,
  /** A statement of a command: to count 100 million records takes a minute or two. */
  operatorStatementMs: 600_000,
  /** A statement of a migration: to fill a new column of 100 million records takes hours. */
  migrationStatementMs: 21_600_000,
  /** A transaction of a command waits this long for its process: an export for its reader. */
  operatorIdleMs: 60_000,
  /** The merge of a stream on PostgreSQL: 5 GB at 20 MB/s. Its customers' records wait for it. */
  streamMergeMs: 300_000,
  /** Times that a start looks for a pooler: other programs may take the session in between. */
  poolerLooks: 5,
  poolerLookMs: 5000,
  /** How long a merge waits for another one, and for a session. Its records have all arrived. */
  mergeLockMs: 60_000,
  mergeSessionMs: 30_000,
  /** Records whose values a migration notes in one transaction. */
  heldFilledTogether: 20_000,
  fillLoggedMs: 5000,
  /** Transactions of a merge, each of which another writer kept from locking in order. */
  mergeTriesMax: 5,
  /** Lines of an import in memory before they go to its file, and read from it at a time. */
  spoolPieceBytes: 1024 * 1024,
  /** Free space that imports leave on the disk of their files; PostgreSQL may share it. */
  spoolFreeBytesMin: 256 * 1024 * 1024,
} as const
