import type { DatabaseSync } from 'node:sqlite'
import type { Clock } from '../../../platform/clock.ts'
import type { KeptAnswers } from '../../records/history.ts'
import {
  findAnswer,
  forgetAnswer,
  forgetAnswers,
  forgottenBefore,
  keepAnswer,
} from '../../sql/history/kept-answers.ts'
import { text } from '../../sql/row.ts'
import { guarded } from '../database.ts'
import type { Write } from '../locks.ts'

const table = 'kept_answer'
const positional = (): string => '?'

export const openKeptAnswers = (db: DatabaseSync, write: Write, clock: Clock): KeptAnswers => ({
  find: async (clientId, key) =>
    guarded(() => {
      const since = forgottenBefore(clock())
      const row = db.prepare(findAnswer(table, positional)).get(clientId, key, since)
      return row && { sha256: text(row, 'sha256'), answer: text(row, 'answer') }
    }),
  keep: ({ clientId, key, sha256, answer }) =>
    write(() => {
      const now = clock()
      forgetExpired(db, clientId, key, now)
      db.prepare(keepAnswer(table, positional)).run(clientId, key, sha256, answer, now)
    }),
})

/** Forgets the answer of a key if its time has passed, and some others. */
export function forgetExpired(db: DatabaseSync, clientId: string, key: string, now: bigint): void {
  const before = forgottenBefore(now)
  db.prepare(forgetAnswer(table, positional)).run(clientId, key, before)
  db.prepare(forgetAnswers(table, positional)).run(before)
}
