import { type Clock, HOUR_MICROS, limitsOf } from '@bursar/base'
import type { Dialect } from '../dialect.ts'
import { AlreadyAnswered, type NewAnswer } from '../records/import.ts'
import type { OperatorRecords } from '../records.ts'
import { text } from '../row.ts'
import type { Reads } from '../session.ts'

const limits = limitsOf({
  /** How long the answer to an idempotency key is kept, and how many are forgotten at a time. */
  answerKeptHours: 24,
  answersForgottenMax: 100,
})

export const openKeptAnswers =
  ({ rows }: Reads, { tableName }: Dialect, clock: Clock): OperatorRecords['findAnswer'] =>
  async (clientId, key) => {
    const [row] = await rows({
      text: `select fingerprint, answer from ${tableName('kept_answer')}
        where client_id = $1 and key = $2 and kept_at > $3`,
      values: [clientId, key, forgottenBefore(clock())],
    })
    return row && { fingerprint: text(row, 'fingerprint'), answer: text(row, 'answer') }
  }

/** Keeps an answer. Throws an AlreadyAnswered if its key has one. Forgets expired answers. */
export async function keepAnswer(
  { rows }: Reads,
  { tableName, forUpdate }: Dialect,
  { clientId, key, fingerprint, answer }: NewAnswer,
  now: bigint,
): Promise<void> {
  const table = tableName('kept_answer')
  const before = forgottenBefore(now)
  // An answer whose time has passed makes room for another one of its key.
  await rows({
    text: `delete from ${table} where client_id = $1 and key = $2 and kept_at <= $3`,
    values: [clientId, key, before],
  })
  // Others may be forgotten by another merge at this moment, and this one must not wait for it.
  await rows({
    text: `delete from ${table} where (client_id, key) in (
      select client_id, key from ${table} where kept_at <= $1
      order by kept_at limit ${limits.answersForgottenMax} ${forUpdate('skip')})`,
    values: [before],
  })
  const kept = await rows({
    text: `insert into ${table} (client_id, key, fingerprint, answer, kept_at)
      values ($1, $2, $3, $4, $5) on conflict do nothing returning 1`,
    values: [clientId, key, fingerprint, answer, now],
  })
  if (kept.length === 0) throw new AlreadyAnswered()
}

/** Answers that were kept before this instant are deleted. */
const forgottenBefore = (now: bigint): bigint => now - BigInt(limits.answerKeptHours) * HOUR_MICROS
