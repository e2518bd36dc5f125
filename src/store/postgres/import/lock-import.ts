import type { Resource } from '../../../contract/resource.ts'
import { losingCustomers } from '../../merge/conflict-queries.ts'
import { optionalText } from '../../row.ts'
import type { Session } from '../../session.ts'
import { dialect } from '../dialect.ts'
import type { Claimed } from './claims.ts'

/**
 * Keeps other writers from what an import changes, until its commit: first from its values, then
 * from the rows of its customers and, for a take-over, of those that lose a value. Once the values
 * are claimed, nobody can get them any more, so the losers are known.
 */
export async function lockImport(
  session: Pick<Session, 'rows' | 'run'>,
  resource: Resource,
  { takeOver, claim }: ImportLocks,
): Promise<void> {
  await session.run('savepoint unlocked')
  const begun = await countChanges(session)
  await claim('new')
  await session.run(lockCustomers(resource, takeOver))
  if ((await countChanges(session)) === begun) return
  // A version that had a value may have been replaced before its customer was locked.
  await session.run('rollback to savepoint unlocked')
  await claim('all')
  await session.run(lockCustomers(resource, takeOver))
}

type ImportLocks = {
  readonly takeOver: boolean
  /** Claims the values of the staged records. */
  readonly claim: (claimed: Claimed) => Promise<void>
}

const customer = dialect.tableName('customer')
const isStaged = 'id in (select customer_id from staged_line)'

/** Every change of a staged customer raises this number. */
async function countChanges({ rows }: Pick<Session, 'rows'>): Promise<string | undefined> {
  const text = `select sum(changes)::text as changes from ${customer} where ${isStaged}`
  const [row = {}] = await rows({ text })
  return optionalText(row, 'changes')
}

/** All in one statement, in the order of their numbers, so that no two imports wait in a circle. */
const lockCustomers = (resource: Resource, takeOver: boolean): string => `
  select count(*) from (
    select number from ${customer} where number in (
      select number from ${customer} where ${isStaged}
      ${takeOver ? `union ${losingCustomers(resource, dialect)}` : ''}
    ) order by number for update
  ) as locked`
