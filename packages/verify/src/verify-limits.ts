/** Limits of `verify`, which reads the answers of a server that nobody has checked. */
export const verifyLimits = {
  /** A page of 1,000 accounts has about 0.5 MB. */
  answerBytesMax: 8 * 1024 * 1024,
  /** Legal answers have 8 levels. */
  depthMax: 50,
  /** The contract states no time. docs/integrating.md advises clients to wait for 10 s. */
  timeoutMs: 10_000,
  /** The whole run. After it, the statements that are left are not testable. */
  runMs: 5 * 60 * 1000,
  /** How long a `Retry-After` may make the run wait, and how often for one request. */
  retryAfterSecondsMax: 10,
  retriesMax: 3,
  /** Pages of one walk. Four pages cover the sample; a few more show a walk that does not end. */
  pagesMax: 6,
  /** Pages of a thousand records that a question about every record reads of each list. */
  deepPagesMax: 5,
  /** Pages of a hundred events from the first on: more than the sandbox has, in a second. */
  feedPagesMax: 40,
  /** One walk through a list, so that a slow server leaves time for the other statements. */
  walkMs: 30_000,
  /** A page whose text is longer is kept without it: 50 pages of 0.5 MB would take 25 MB. */
  keptTextMax: 20_000,
  /** Requests of a path without an answer; each may take the whole time of a request. */
  failuresMax: 3,
  /** Records of a kind that are read alone, to compare them with their list. */
  readsMax: 5,
  /** What a report shows of a request and an answer: one or two lines of a terminal. */
  shownLengthMax: 240,
} as const
