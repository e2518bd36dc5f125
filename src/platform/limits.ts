/** Every limit of the service, with its reason. */
export const limits = {
  /** Contract, section 8. Statements have the same limit. */
  pageSizeMax: 1000,
  pageSizeDefault: 100,
  /** Contract, section 8: entries of one identifier filter. */
  filterEntriesMax: 100,
  /** Entries of a filter that the contract does not limit: as many as a page has records. */
  longFilterEntriesMax: 1000,
  /** Bounds an index entry. No core system issues longer identifiers. */
  identifierLengthMax: 200,
  /** The largest body, a fee request, has a few hundred bytes. */
  bodyBytesMax: 16 * 1024,
  /** Request line and headers. A percent-encoded filter of 100 references can need 240 KB. */
  headerBytesMax: 256 * 1024,
  /** No operation computes for longer; a client that is still sending after this time is gone. */
  requestTimeoutMs: 15_000,
  headersTimeoutMs: 10_000,
  /** Longer than the idle timeout of common load balancers (60 s), so that they close first. */
  keepAliveTimeoutMs: 72_000,
  connectionsMax: 10_000,
  /** At a shutdown, requests in flight have this long to finish. */
  drainTimeoutMs: 10_000,
  /** After draining, a worker has this long to close its stores. Then it is killed. */
  workerDrainGraceMs: 2000,
  /** A worker that dies sooner has probably failed to start, so its replacement is delayed. */
  workerSettledMs: 10_000,
  workerDelayMsMax: 30_000,
  requestIdLengthMax: 128,
  /** Ignored parameters that an answer names: enough to find a spelling, few for a header. */
  ignoredNamesMax: 10,
  /** The longest name of a parameter has 19 characters; each may be three when encoded. */
  parameterNameLengthMax: 100,
  /** One record of an import. The largest valid record is far smaller. */
  recordBytesMax: 1024 * 1024,
  /** An import lists this many faults and counts the rest. */
  faultsReportedMax: 1000,
  /** Quotes are kept for a quarter, so that reconciliation can tell expired from consumed. */
  quoteKeptDays: 90,
  /** A batch takes a few milliseconds. With the pause, the sweep deletes 5,000 quotes a second. */
  quoteSweepRows: 500,
  quoteSweepRestMs: 100,
  quoteSweepIdleMs: 60_000,
  /** Quotes that share a commit. A full commit takes about 10 ms. */
  quotesPerCommitMax: 1000,
  /** Quotes that may wait for the current commit, and the deadline of one quote. */
  quotesWaitingMax: 5000,
  quoteIssueMs: 5000,
  /** How long a request may wait for a database session, and how many may wait for each. */
  databaseWaitMs: 400,
  databaseWaitingPerSession: 50,
  /** Interval of the health check of every database server. It finds a new primary and the lag. */
  databaseHealthCheckIntervalMs: 500,
  /** Gets that share a statement, statements in flight, and gets that may wait. */
  getsPerStatementMax: 100,
  getStatementsMax: 2,
  getsWaitingMax: 5000,
  /** The same for pages, counted in rows. Four statements keep two cores busy. */
  pageRowsPerStatementMax: 800,
  pageStatementsMax: 4,
  pagesWaitingMax: 1000,
  /** Without a primary the lag of a standby is unknown. It is still read from for this long. */
  databasePrimaryLostMs: 300_000,
  /** Delay before the listening session is reopened, and pause between two notifications. */
  databaseListenRetryMs: 500,
  databaseChangeRestMs: 100,
  /** No token that Bursar issues lives longer. A rotated key stays published for as long. */
  tokenLifeSecondsMax: 3600,
  /** Clock skew between Bursar's own hosts. NTP keeps them within milliseconds. */
  ownSkewSeconds: 5,
  /** Clock skew of another issuer. FAPI 2.0 requires 10 s and forbids more than 60 s. */
  issuerSkewSeconds: 30,
  /** The longest life of another issuer's token. Large issuers default to 24 h. */
  issuerTokenLifeSecondsMax: 86_400,
  /** Bounds what is decoded before a signature is checked. Bursar's tokens have 700 characters. */
  tokenLengthMax: 8192,
  /** Cache of verified tokens, by digest: about 4 MB. */
  verifiedTokensMax: 10_000,
  verifiedTokenLifeSeconds: 60,
  /** Every process must refuse a disabled client within 10 s: two polls and a margin. */
  credentialPollMs: 2000,
  /** Anyone can send an unknown key id, so it triggers a refresh at most this often. */
  unknownKeyIntervalMs: 200,
  /** A `private_key_jwt` assertion is made for one request, so it must be short-lived. */
  assertionLifeSecondsMax: 300,
  assertionIdLengthMax: 256,
  /** A client needs two keys during a rotation. More keys only slow down the search. */
  clientKeysMax: 10,
  /** Fields of a form. The longest, an assertion, fits into a body of 16 KiB. */
  formFieldsMax: 20,
  formFieldLengthMax: 12_288,
  /** People read "last used"; a write a minute is precise enough and keeps tokens cheap. */
  useRecordedEverySeconds: 60,
  /** Failed authentications in one window before the answer is 429. Limits load and log noise. */
  failuresPerAddress: 60,
  failuresPerAddressAndClient: 10,
  failureWindowSeconds: 60,
  /** Addresses that the limiter remembers, about 400 bytes each. The oldest is dropped first. */
  failureKeysMax: 10_000,
  /** How often another issuer's keys are fetched, and how long old keys serve while it is down. */
  issuerRefreshMs: 5 * 60 * 1000,
  issuerStaleSeconds: 24 * 3600,
  /** An unknown key id triggers a fetch at most this often, so that nobody can flood the issuer. */
  issuerCoolDownSeconds: 30,
  issuerTimeoutMs: 5000,
  issuerAnswerBytesMax: 262_144,
  issuerKeysMax: 100,
} as const
