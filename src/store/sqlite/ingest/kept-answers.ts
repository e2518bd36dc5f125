import type { DatabaseSync } from 'node:sqlite'
import type { Clock } from '../../../platform/clock.ts'
import type { KeptAnswers } from '../../records/history.ts'
import type { NewAnswer } from '../../records/import.ts'
import { text } from '../../row.ts'
import {
  findAnswer,
  forgetAnswer,
  forgetAnswers,
  forgottenBefore,
  keepAnswer,
} from '../../sql/history/kept-answers.ts'
import { guarded } from '../database.ts'

const table = 'kept_answer'
const positional = (): string => '?'

export const openKeptAnswers = (db: DatabaseSync, clock: Clock): KeptAnswers => ({
  find: async (clientId, key) =>
    guarded(() => {
      const since = forgottenBefore(clock())
      const row = db.prepare(findAnswer(table, positional)).get(clientId, key, since)
      return row && { fingerprint: text(row, 'fingerprint'), answer: text(row, 'answer') }
    }),
})

/** Keeps an answer unless its key has one, and returns whether it did. Forgets expired answers. */
export function keepOnce(
  db: DatabaseSync,
  { clientId, key, fingerprint, answer }: NewAnswer,
  now: bigint,
): boolean {
  const before = forgottenBefore(now)
  db.prepare(forgetAnswer(table, positional)).run(clientId, key, before)
  db.prepare(forgetAnswers(table, positional)).run(before)
  const keep = db.prepare(keepAnswer(table, positional))
  return keep.run(clientId, key, fingerprint, answer, now).changes === 1
}
