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
import type { Servers } from '../cluster/servers.ts'
import type { Connection } from '../driver/connection.ts'

const table = 'bursar.kept_answer'
const numbered = (number: number): string => `$${number}`

export const openKeptAnswers = (servers: Servers, clock: Clock): KeptAnswers => ({
  find: async (clientId, key) => {
    const values = [clientId, key, forgottenBefore(clock())]
    const [row] = await servers.rows({ text: findAnswer(table, numbered), values })
    return row && { fingerprint: text(row, 'fingerprint'), answer: text(row, 'answer') }
  },
})

/** Keeps an answer unless its key has one, and returns whether it did. Forgets expired answers. */
export async function keepOnce(
  connection: Connection,
  { clientId, key, fingerprint, answer }: NewAnswer,
  now: bigint,
): Promise<boolean> {
  const before = forgottenBefore(now)
  const ofKey = [clientId, key, before]
  await connection.query({ text: forgetAnswer(table, numbered), values: ofKey })
  await connection.query({ text: forgetAnswers(table, numbered), values: [before] })
  const text = `${keepAnswer(table, numbered)} returning 1`
  const kept = await connection.query({ text, values: [clientId, key, fingerprint, answer, now] })
  return kept.length === 1
}
