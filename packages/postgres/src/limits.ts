import { limitsOf } from '@bursar/base'

/** Limits that several files share, here or in other packages. */
export const postgresLimits = limitsOf({
  /** How long a request may wait for a database session. */
  databaseWaitMs: 400,
  /** With more customers than this, a merge tells every reader to look. */
  notifiedCustomersMax: 6000,
  /** How often PostgreSQL looks whether the client of a statement that runs for long is gone. */
  databaseClientCheckMs: 5000,
  /** A statement of a command: to count 100 million records takes a minute or two. */
  operatorStatementMs: 600_000,
})
