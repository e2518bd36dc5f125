import type { Dialect } from '../dialect.ts'
import { recordsLimits } from '../limits.ts'
import { text } from '../row.ts'
import type { Session } from '../session.ts'
import type { KeyMaking } from './customer-key-rows.ts'
import type { CustomerKeys } from './customer-keys.ts'
import type { Part } from './keyed-tables.ts'
import { placeOf, readRows, renewRows, type Unopened } from './renewed-rows.ts'
import { finish, readProgress, writeProgress } from './reseal-progress.ts'

export type ResealStep = {
  readonly customerId: string
  readonly changed: number
  readonly unopened: readonly Unopened[]
  /** Whether everything of the customer has its current key now. */
  readonly isEnd: boolean
  /** Whether the current key of the customer cannot be used, so that nothing can be done. */
  readonly isStuck?: true
}

type Owner = { readonly customerId: string; readonly number: bigint | undefined }

/** Takes the next rows of a customer, or ends its walk. */
export async function takePart(
  session: Session,
  deps: KeyMaking,
  parts: readonly Part[],
  { customerId, number }: Owner,
  keys: CustomerKeys & { readonly current: NonNullable<CustomerKeys['current']> },
): Promise<ResealStep> {
  const { dialect } = deps
  const before = await readProgress(session, deps, customerId, keys.current.id)
  const part = number === undefined ? undefined : parts[before.part]
  if (part === undefined || number === undefined) {
    await finish(session, deps, customerId, before.needed)
    return { customerId, changed: 0, unopened: [], isEnd: true }
  }
  const found = await readRows(session, dialect, part, number, before.place)
  const owner = { customerId, number }
  const { changed, unopened } = await renewRows(session, dialect, part, owner, keys, found)
  const named = await storedKeyIds(session, dialect, customerId, unopened)
  const last = found.at(-1)
  const isPartOver = found.length < recordsLimits.resealedTogether || last === undefined
  await writeProgress(session, deps, customerId, keys.current.id, {
    needed: [...new Set([...before.needed, ...named])],
    part: isPartOver ? before.part + 1 : before.part,
    place: isPartOver ? [] : placeOf(part, last),
  })
  return { customerId, changed, unopened, isEnd: false }
}

/** The stored keys that rows name which do not open. One of those may open again. */
async function storedKeyIds(
  { rows }: Session,
  { tableName, isAnyOf, parameter, list }: Dialect,
  customerId: string,
  unopened: readonly Unopened[],
): Promise<readonly string[]> {
  const named = unopened.flatMap(({ keyId }) => keyId ?? [])
  if (named.length === 0) return []
  const found = await rows({
    text: `select id from ${tableName('customer_key')} where customer_id = $1
      and ${isAnyOf('id', parameter(2, 'text[]'))}`,
    values: [customerId, list(named)],
  })
  return found.map((row) => text(row, 'id'))
}
