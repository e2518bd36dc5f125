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
import type { Servers } from '../cluster/servers.ts'
import { inTransaction } from '../cluster/transaction.ts'
import type { Connection } from '../driver/connection.ts'

const table = 'bursar.kept_answer'
const numbered = (number: number): string => `$${number}`

export const openKeptAnswers = (servers: Servers, clock: Clock): KeptAnswers => ({
  find: async (clientId, key) => {
    const values = [clientId, key, forgottenBefore(clock())]
    const [row] = await servers.rows({ text: findAnswer(table, numbered), values })
    return row && { sha256: text(row, 'sha256'), answer: text(row, 'answer') }
  },
  keep: async ({ clientId, key, sha256, answer }) => {
    const now = clock()
    await inTransaction(servers, async (connection) => {
      const values = [clientId, key, sha256, answer, now]
      await forgetExpired(connection, clientId, key, now)
      await connection.query({ text: keepAnswer(table, numbered), values })
    })
  },
})

/** Forgets the answer of a key if its time has passed, and some others. */
export async function forgetExpired(
  connection: Connection,
  clientId: string,
  key: string,
  now: bigint,
): Promise<void> {
  const before = forgottenBefore(now)
  const ofKey = [clientId, key, before]
  await connection.query({ text: forgetAnswer(table, numbered), values: ofKey })
  await connection.query({ text: forgetAnswers(table, numbered), values: [before] })
}
