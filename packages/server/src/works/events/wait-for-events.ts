import { type Config, limitsOf, systemTime } from '@bursar/base'
import type { Caller, WorkInput } from '@bursar/contract'
import type { ChangeWait } from '@bursar/records'
import type { EventWaits } from './event-waits.ts'
import type { SharedReads } from './shared-reads.ts'

const limits = limitsOf({
  /**
   * Reads for requests that wait, as a part of the sessions of a pool, on both engines. A commit
   * wakes thousands of readers, and gets and pages have six of ten sessions.
   */
  eventsSessionsPart: 0.3,
  /** By chance a wait ends up to this part of its time early, so that readers return apart. */
  eventsWaitSpread: 0.2,
})

/** What a reader of a feed has found. */
type FoundSome = {
  readonly items: readonly object[]
  readonly more: boolean
  /** How many versions its customer has, as far as the read has seen them. */
  readonly changes: bigint
}

export type WaitingReader<Query, Found> = {
  readonly query: Query & { readonly after: unknown }
  readonly seconds: number
  readonly waits: EventWaits
  readonly reads: SharedReads<Query, Found>
  readonly begin: (endsAt: number, left: AbortSignal) => ChangeWait
  /** The query that goes on after a page. */
  readonly next: (found: Found) => Query
  /** What a reader has found whose time was over before its first read began. */
  readonly nothing: Found
}

/** How many reads of those that wait run at once. */
export const waitingReadsMax = ({
  databaseConnectionsMax,
}: Pick<Config, 'databaseConnectionsMax'>) =>
  Math.max(1, Math.floor(databaseConnectionsMax * limits.eventsSessionsPart))

/** Answers once there is an event or another page, or at the end of its time. */
export async function waitForSome<Query, Found extends FoundSome>(
  { caller, request, right }: Pick<WorkInput<Caller>, 'caller' | 'request' | 'right'>,
  { query, seconds, waits, reads, begin, next, nothing }: WaitingReader<Query, Found>,
): Promise<Found> {
  const endsAt =
    systemTime.elapsedMs() + 1000 * seconds * (1 - limits.eventsWaitSpread * Math.random())
  const leave = waits.enter(caller.clientId)
  const left = AbortSignal.any([request.left(), right.signal()])
  // It waits for its turn to read as well, and holds nothing meanwhile.
  const countAgain = request.rest()
  // Before the first read, so that no change falls between the two.
  const wait = begin(endsAt, left)
  try {
    // Without a cursor the first read gives the client one, so the end of its time is no end.
    const over = query.after === undefined ? left : wait.over
    let found = (await reads.read(query, over)) ?? nothing
    while (found.items.length === 0 && !found.more && (await wait.until(found.changes))) {
      right.require()
      found = (await reads.read(next(found), wait.over)) ?? found
    }
    right.require()
    return found
  } finally {
    wait.end()
    countAgain()
    leave()
  }
}
