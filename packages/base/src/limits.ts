import { storeLimits } from './store-limits.ts'

/** Every limit of the service, with its reason. */
export const limits = {
  ...storeLimits,
  /** Contract, section 8. Statements have the same limit. */
  pageSizeMax: 1000,
  pageSizeDefault: 100,
  /** Answers of lists that are kept in memory, of each process. */
  keptPagesBytesMax: 32 * 1024 * 1024,
  /** Consumed fees that are read together to get their events, and how long one may take. */
  feesAnnouncedTogether: 100,
  feeAnnouncedMs: 2000,
  /** How often a server looks for consumptions of other processes. Its own have events at once. */
  feesAnnouncedEveryMs: 1000,
  /** Events of a page, as the public API of this family has it. */
  eventsPageMax: 100,
  /** How long a request may wait for an event. Proxies end silent requests after a minute. */
  eventsWaitSecondsMax: 30,
  /**
   * Reads for requests that wait, as a part of the sessions of a pool, on both engines. A commit
   * wakes thousands of readers, and gets and pages have six of ten sessions.
   */
  eventsSessionsPart: 0.3,
  /** By chance a wait ends up to this part of its time early, so that readers return apart. */
  eventsWaitSpread: 0.2,
  /** Requests that wait for events, of one client and of a process. Each holds some 23 KB. */
  eventsWaitingPerClientMax: 100,
  eventsWaitingMax: 12_000,
  /** Events that one page of a filtered feed compares at most: about two milliseconds. */
  eventsComparedMax: 5000,
  /** Contract, section 8: entries of one identifier filter. */
  filterEntriesMax: 100,
  /** Entries of a filter that the contract does not limit: as many as a page has records. */
  longFilterEntriesMax: 1000,
  /** Bounds an index entry. No core system issues longer identifiers. */
  identifierLengthMax: 200,
  /** The largest body, a fee request, has a few hundred bytes. */
  bodyBytesMax: 16 * 1024,
  /** A fee request has five; unknown ones are ignored. */
  bodyMembersMax: 200,
  /** Request line and headers: 1,000 statement ids (60 KB), a token and a proxy's headers. */
  headerBytesMax: 72 * 1024,
  /** Browsers and proxies send about 30. Node reads each into strings before any check. */
  headersMax: 100,
  /** The longest path has an id of 36 characters; the rest is room for the echo of a wrong one. */
  pathLengthMax: 2048,
  /** Pairs of a query: three filters with 1,000 entries, and every other parameter. */
  parametersMax: 3100,
  /** A value of 200 characters, each of four bytes, needs 2,400 characters with its escapes. */
  valueLengthMax: 2400,
  /** A query at the token endpoint, which takes no parameter in it. */
  formQueryLengthMax: 2048,
  /** What follows a media type is a charset, or a boundary of at most 70 characters. */
  contentTypeLengthMax: 256,
  /** The end of `X-Forwarded-For`, where trusted proxies write: at least 10 addresses. */
  forwardedForLengthMax: 512,
  /** `If-None-Match`: some 40 entity tags. */
  entityTagsLengthMax: 2048,
  /** A cursor has about 120 characters. */
  cursorLengthMax: 512,
  /** No operation computes for longer; a client that is still sending after this time is gone. */
  requestTimeoutMs: 15_000,
  headersTimeoutMs: 10_000,
  /** A stream of records: 5 GB at 80 Mbit/s. Nothing else may take so long to arrive. */
  streamTimeoutMs: 600_000,
  /**
   * Streams that a process stores at a time. Each takes a process of some 200 MB, a core at a lower
   * priority, and a session for its merge.
   */
  streamsMax: 4,
  /** Of one client: half of them, so that no client can keep the others waiting. */
  streamsPerClientMax: 2,
  /** Streams that are received, wait or are stored, each with a file: of all clients and of one. */
  streamsHeldMax: 40,
  streamsHeldPerClientMax: 10,
  /** How long a stream waits after its last byte: proxies allow a minute. */
  streamWaitMs: 30_000,
  /** The processes that store streams yield to those that answer requests (`nice`). */
  writerPriority: 10,
  /** How long one of them is kept without a stream: to start one takes half a second. */
  writerKeptMs: 60_000,
  /** The memory of JavaScript in one. It holds some hundred lines at a time, however many come. */
  writerMemoryMegabytes: 512,
  /** Sessions of one with PostgreSQL: its merge, and reads of what is stored. */
  writerSessionsMax: 2,
  /** A stream that is read reports after so many records, and is ended after so long a silence. */
  streamProgressRecords: 500,
  writerSilenceMs: 30_000,
  /** How long one may take to stop. Then it is killed. */
  writerStopMs: 2000,
  /** From the last line to the commit: a wait for the lock, and the merge. */
  writerMergeMs: 360_000,
  /** What a process prints before it ends unexpectedly: the first lines of its fault. */
  writerPrintedLengthMax: 2000,
  /** What a client must send in each minute that the server waits for it: 60 compressed records. */
  streamWindowSeconds: 60,
  streamWindowBytesMin: 4096,
  /** A stream's lines and content: two million accounts. The command imports larger files. */
  streamLinesMax: 2_000_000,
  streamBytesMax: 2 * 1024 ** 3,
  /** Blank lines of a stream in all; a writer has one at the end. */
  streamBlankLinesMax: 1000,
  /** Records compress to a twentieth. A stream's processor time follows its content. */
  streamGzipRatioMax: 100,
  streamGzipRatioFreeBytes: 1024 * 1024,
  /** Versions of a history page, and of one step of reading them: some milliseconds. */
  historyPageBytesMax: 1024 * 1024,
  historyStepBytes: 256 * 1024,
  /** How long an import may hold the event loop of a server before requests have their turn. */
  timeSliceMs: 3,
  /** A refused stream with more records is not compared with the store, which takes the loop. */
  conflictsSearchedRecordsMax: 200,
  /** An Idempotency-Key: a UUID or a digest in any spelling. */
  idempotencyKeyLengthMax: 200,
  /** Faults that an answer lists; a client that needs more of them imports the file. */
  faultsAnsweredMax: 100,
  /** Hits of a search: more than a person reads. */
  searchHitsMax: 20,
  /** Records that a search by words compares in a step of some milliseconds, and its steps. */
  searchRowsTogether: 200,
  searchStepsMax: 25,
  /** Words of a query that are compared; the others are left out. */
  searchWordsMax: 8,
  /** The newest changes that are answered; the customers and the updates read together for them. */
  latestChangesMax: 25,
  latestCustomersTogether: 8,
  latestUpdatesTogether: 4,
  /** Customers of one page, each with its counts of every kind: about 500 bytes. */
  customersPageMax: 100,
  /** Longer than the idle timeout of common load balancers (60 s), so that they close first. */
  keepAliveTimeoutMs: 72_000,
  /** Those that wait for events, as many in progress, and some that do nothing. */
  connectionsMax: 16_000,
  /** Requests in progress on a process. More would wait for the stores longer than clients do. */
  requestsInProgressMax: 5000,
  /** A client must take an answer within this time: a page of 1 MB at 280 kbit/s. */
  answerTakenMs: 30_000,
  /** How often a server looks for answers that were not taken in that time. */
  answerTakenLookMs: 1000,
  /**
   * Answers that clients have not taken yet, in bytes: of one client some 60 pages of 1,000
   * accounts, more than it can read at a time, and of all clients what a process may grow by.
   */
  unsentBytesPerClientMax: 32 * 1024 * 1024,
  unsentBytesMax: 256 * 1024 * 1024,
  /** With less memory than 2 GiB for a worker, all of them get one part of it in eight. */
  unsentPartOfMemory: 8,
  /** How long a large answer waits until others are taken. Clients give up after some 10 s. */
  unsentWaitMs: 5000,
  /** Large answers that may wait, of one client and of all: more would wait in vain. */
  unsentWaitingPerClientMax: 200,
  unsentWaitingMax: 1000,
  /** An answer that is not counted: the system takes so much at once (`tcp_wmem`, its default). */
  smallAnswerBytesMax: 16 * 1024,
  /** Memory for a record of a page before the page is read. Nearly all have fewer bytes. */
  recordBytesReserved: 2048,
  /** Pause between two warnings of one kind that a stranger can cause. Each has a count. */
  warningRestMs: 1000,
  /** How long the answer to a request that is not HTTP may take to reach the caller. */
  brokenRequestLingerMs: 5000,
  /** Files that are no connections of clients: stores, database sessions, look-ups of fees. */
  descriptorsReserved: 256,
  /** Free space below which `doctor` warns: the largest stream, its merge and its log. */
  diskFreeBytesMin: 2 * 1024 * 1024 * 1024,
  /** How far the clock may differ from the database's. Tokens and quotes live for minutes. */
  clockDifferenceMsMax: 1000,
  /** How long the program of BURSAR_KEY_COMMAND may take, and what it may print. */
  keyCommandMs: 10_000,
  keyCommandBytesMax: 1024,
  /** How long `healthcheck` waits. Supervisors give a check some 30 s. */
  healthcheckMs: 5000,
  /** The answer of `/readyz` on the operator's port has a few kilobytes. */
  healthAnswerBytesMax: 1024 * 1024,
  /** How long a check of `doctor` may take, before it counts as failed. */
  doctorCheckMs: 15_000,
  /** How many days the pruning of the audit log may be late: it runs once a week. */
  auditPruneLateDaysMax: 14,
  /** How old the newest backup may be: one a day, and two hours for it to run. */
  backupAgeHoursMax: 26,
  /** How old the signing key of tokens may be. */
  signingKeyAgeDaysMax: 400,
  /** With room for fewer connections the service does not start. */
  connectionsMin: 64,
  /** A listener closes once nobody has connected for this long, or after the second time. */
  listenerSettleMs: 250,
  listenerSettleMsMax: 2000,
  /** A busy connection has its next request within this time, and its answer closes it. */
  idleGraceMs: 2000,
  /** After the listener has closed, requests in flight have this long to finish. */
  drainTimeoutMs: 10_000,
  /** Lines that wait for a reader of the log that has stopped: about 4,000 requests. */
  logWaitingBytesMax: 1024 * 1024,
  /** How long the end of the process waits for that reader. */
  logFlushMs: 500,
  /** Spans that wait for a receiver that is slow or down: some 200 requests, in about 2 MB. */
  spansWaitingMax: 2048,
  /** Spans of one request to the receiver, as OpenTelemetry recommends: about 150 KB. */
  spansPerExportMax: 512,
  /** An engineer who looks at a trace waits so long for it, and at most. */
  spansSentMs: 2000,
  spansSentMsMax: 60_000,
  /** How long a request to the receiver may take, and so the end of a server waits for the last. */
  spansFlushedMs: 3000,
  /** Warnings about lost spans are as far apart. */
  spansLostWarnedMs: 60_000,
  /** How long `serve` tries to start on a database that answers late. */
  startRetriedMs: 30_000,
  startPauseMs: 500,
  /** npm forwards a signal within milliseconds; a person who insists presses a key again. */
  signalForwardedMs: 500,
  /** How often a server under npm looks whether npm was killed. It costs a system call. */
  parentCheckMs: 500,
  /** After draining, a worker has this long to close its stores. Then it is killed. */
  workerDrainGraceMs: 2000,
  /** A worker that dies sooner has probably failed to start, so its replacement is delayed. */
  workerSettledMs: 10_000,
  workerDelayMsMax: 30_000,
  requestIdLengthMax: 128,
  /** Browsers send 23 characters. A longer header is answered as if there were none. */
  acceptEncodingLengthMax: 256,
  /** A smaller answer fits into one packet, compressed or not. */
  compressedBytesMin: 1024,
  /** Bodies that are being compressed: eight of the largest pages, about 20 ms of two threads. */
  compressedAtOnceBytesMax: 4 * 1024 * 1024,
  /** Ignored parameters that an answer names: enough to find a spelling, few for a header. */
  ignoredNamesMax: 10,
  /** The longest name of a parameter has 19 characters; each may be three when encoded. */
  parameterNameLengthMax: 100,
  /** One record of an import. The largest valid record is far smaller. */
  recordBytesMax: 1024 * 1024,
  /** The longest legal text has 500 characters. A character takes one or two UTF-16 units. */
  recordTextLengthMax: 1000,
  /** Characters of an amount. Any real supply with 18 decimals fits in 64. */
  amountLengthMax: 100,
  /** Members of one object: metadata may have 50. Items of one array: statement balances. */
  recordMembersMax: 100,
  recordItemsMax: 1000,
  /** Legal records have 6 levels. */
  recordDepthMax: 10,
  /** Values of a record in all: a statement with every balance has 4,100. */
  recordValuesMax: 5000,
  /** A shorter line is parsed in microseconds, whatever its form. */
  recordScannedBytesMin: 4096,
  /** Faults of one record that are found. A person mends the first ones and sends it again. */
  recordFaultsMax: 100,
  /** A statement with every balance has 3,065 columns. Their names are short, save metadata's. */
  csvColumnsMax: 4000,
  csvHeaderBytesMax: 256 * 1024,
  /** Blank lines in a row. A file with more of them is broken or an attack. */
  blankLinesMax: 10_000,
  /** The content of a file, after decompression: about 60 million accounts. */
  importBytesMax: 32 * 1024 ** 3,
  /** Records compress to a twentieth. The ratio is not computed for the first bytes. */
  gzipRatioMax: 200,
  gzipRatioFreeBytes: 16 * 1024 * 1024,
  /** A configuration file, a fee schedule or a key set. The largest has a few thousand lines. */
  configurationBytesMax: 1024 * 1024,
  /** One text in them. A URL is the longest. */
  configurationTextLengthMax: 2000,
  /** Faults of one configuration that are listed; the rest are counted. */
  configurationFaultsMax: 100,
  /** Other issuers that one operator trusts. */
  trustedIssuersMax: 100,
  /** An import ends at this many faults of form. It counts all conflicts, and lists as many. */
  faultsReportedMax: 1000,
  /** Imports that one list shows: more than a year of daily files of every kind. */
  importsListedMax: 10_000,
  /** The list of erasures that a restored store repeats: some hundred thousand customers. */
  erasureListBytesMax: 64 * 1024 * 1024,
  /** No token that Bursar issues lives longer. A rotated key stays published for as long. */
  tokenLifeSecondsMax: 3600,
  /** Clock skew between Bursar's own hosts. NTP keeps them within milliseconds. */
  ownSkewSeconds: 5,
  /** Clock skew of another issuer. FAPI 2.0 requires 10 s and forbids more than 60 s. */
  issuerSkewSeconds: 30,
  /** The longest life of another issuer's token. Large issuers default to 24 h. */
  issuerTokenLifeSecondsMax: 86_400,
  /** A person's token is not revoked here, so it must end soon after the issuer ends it. */
  personTokenLifeSecondsMax: 3600,
  /** Bounds what is decoded before a signature is checked. Bursar's tokens have 700 characters. */
  tokenLengthMax: 8192,
  /** Commas, colons and brackets of its header or claims. One with 200 groups has some 270. */
  jwtSeparatorsMax: 500,
  /** Cache of checked tokens, by digest: about 4 MB. */
  checkedTokensMax: 10_000,
  checkedTokenLifeSeconds: 60,
  /** Every process must refuse a disabled client within 10 s: two polls and a margin. */
  credentialPollMs: 2000,
  /** How often the right to a request is looked at while its work goes on. */
  rightCheckedMs: 1000,
  /** Anyone can send an unknown key id, so it triggers a refresh at most this often. */
  unknownKeyIntervalMs: 200,
  /** A `private_key_jwt` assertion is made for one request, so it must be short-lived. */
  assertionLifeSecondsMax: 300,
  assertionIdLengthMax: 256,
  /** An assertion with a signature of RSA-4096 has about 1,200 characters. */
  assertionLengthMax: 4096,
  /** A client needs two keys during a rotation. More keys only slow down the search. */
  clientKeysMax: 10,
  /** An RSA key of a client. Checking a signature of 4,096 bits takes 0.1 ms. */
  rsaBitsMin: 2048,
  rsaBitsMax: 4096,
  /** Fields of a form. The longest is a token or an assertion. */
  formFieldsMax: 20,
  formFieldLengthMax: 8192,
  /** Lines of a multipart form: delimiter, up to six headers, a blank line and a value each. */
  formLinesMax: 200,
  formHeaderBytesMax: 1024,
  /** People read "last used"; a write a minute is precise enough and keeps tokens cheap. */
  useRecordedEverySeconds: 60,
  /** Failed authentications in one window before the answer is 429. Limits load and log noise. */
  failuresPerAddress: 60,
  failuresPerAddressAndClient: 10,
  failureWindowSeconds: 60,
  /** Attempts for one address and client that wait for others to end; further ones get 429. */
  attemptsWaitingMax: 200,
  attemptRetryMs: 1000,
  /** Addresses that the limiter remembers, about 400 bytes each. The oldest is dropped first. */
  failureKeysMax: 10_000,
  /** How often another issuer's keys are fetched, and how long old keys serve while it is down. */
  issuerRefreshMs: 5 * 60 * 1000,
  issuerStaleSeconds: 24 * 3600,
  /** An unknown key id triggers a fetch at most this often, so that nobody can flood the issuer. */
  issuerCoolDownSeconds: 30,
  /** For the address of the keys and the keys together. */
  issuerTimeoutMs: 5000,
  issuerAnswerBytesMax: 262_144,
  /** Usable keys of a set. A look-up among so many takes 0.1 ms. */
  issuerKeysMax: 1000,
  /** A token of anyone is checked with each key of its id, so few share one. */
  issuerKeysOfOneIdMax: 10,
  /** Unusable keys that a log line names; the rest are counted. */
  issuerKeysNamedMax: 20,
  /** Records of one call of the sandbox: ten times its own, and held in memory whole. */
  sandboxRecordsBytesMax: 16 * 1024 * 1024,
  /** Customers of a sandbox: a test run has one for each test. Bounds all that follows. */
  sandboxCustomersMax: 2000,
  /** Each is a copy of both databases, some 5 MB. */
  sandboxSnapshotsMax: 20,
  /** Faults of one customer, and requests of one fault. A test plans a few. */
  sandboxFaultsMax: 100,
  /** Faults of all customers in one list, about 300 bytes each. */
  sandboxFaultsListed: 1000,
  sandboxFaultTimesMax: 10_000,
  /** Clients give up after 30 s at most, and Retry-After is rarely longer than an hour. */
  sandboxDelayMsMax: 30_000,
  sandboxRetryAfterMax: 3600,
  /**
   * Foreign ids, addresses and memos that a client bound to a customer may meet in an hour, on each
   * process. Honest systems meet one where two customers register the same by mistake.
   */
  foreignValuesPerHourMax: 20,
  /** How often the metrics count what is stored: as often as Prometheus usually reads them. */
  metricsCountedMs: 15_000,
  /** How often the delay of the event loop is measured: it finds each one that is as long. */
  eventLoopSampledMs: 20,
  /** How long a worker waits for the metrics of all: Prometheus waits for 10 s. */
  metricsMergedMs: 6000,
  /** The usual interval of a source of fees. The fee schedule sets that of each network. */
  feeRefreshMs: 30_000,
  /** Ten years: past every life of a token, a fee and a key. */
  sandboxAdvanceSecondsMax: 315_360_000,
  /** Requests of one customer that the sandbox lists, about 200 bytes each. */
  sandboxRequestsKept: 1000,
} as const
