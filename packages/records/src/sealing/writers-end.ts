import { limitsOf, systemTime } from '@bursar/base'
import type { Dialect } from '../dialect.ts'
import { text } from '../row.ts'
import type { Transact } from '../session.ts'

const limits = limitsOf({
  /** How long a walk waits for transactions that began before it, and how often it looks. */
  writersEndMs: 900_000,
  writersAskedMs: 200,
})

/** Whether every transaction ends in time that had begun before. */
export async function untilWritersEnd({
  transact,
  dialect: { transactions },
}: {
  readonly dialect: Pick<Dialect, 'transactions'>
  readonly transact: Transact
}): Promise<boolean> {
  const ask = (statement: string, values: readonly string[] = []) =>
    transact((session) => session.rows({ text: statement, values }))
  // A transaction waits for the writer of the embedded store.
  if (transactions === undefined) return (await ask('select 1')).length > 0
  const [row = {}] = await ask(transactions.newest)
  const newest = text(row, 'newest')
  const endsAt = systemTime.elapsedMs() + limits.writersEndMs
  while (systemTime.elapsedMs() < endsAt) {
    if ((await ask(transactions.haveEnded, [newest])).length > 0) return true
    await systemTime.pause(limits.writersAskedMs)
  }
  return false
}
