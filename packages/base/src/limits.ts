import { limitsOf } from './declare-limits.ts'

/** Limits that several files share, here or in other packages. */
export const baseLimits = limitsOf({
  /** When a walk over the whole store begins after a start, and its pause after a round. */
  walkFirstMs: 1000,
  walkRoundRestMs: 60_000,
  /** The longest guarantee. A quote that expires later was issued by a clock that was ahead. */
  quoteLifeSecondsMax: 900,
  /** How often a server looks for fee quotes to delete. */
  quoteSweepIdleMs: 60_000,
  /** How often readers whose time is over are answered, where nothing need be looked for. */
  readersLookMs: 250,
  /** Those that wait for events, as many in progress, and some that do nothing. */
  connectionsMax: 16_000,
  /** How often a server looks for answers that were not taken in that time. */
  answerTakenLookMs: 1000,
  /** Files that are no connections of clients: stores, database sessions, look-ups of fees. */
  descriptorsReserved: 256,
  /** Faults of one record that are found. A person mends the first ones and sends it again. */
  recordFaultsMax: 100,
  /** One text in them. A URL is the longest. */
  configurationTextLengthMax: 2000,
  /** The usual interval of a source of fees. The fee schedule sets that of each network. */
  feeRefreshMs: 30_000,
})
