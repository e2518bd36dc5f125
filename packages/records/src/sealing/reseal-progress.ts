import { attempt } from '@bursar/base'
import { text } from '../row.ts'
import type { Session } from '../session.ts'
import { findKeys, indexKeyOf, type KeyMaking, wrap } from './customer-key-rows.ts'

/** How far the records of a customer are. */
export type Progress = {
  /** The ids of older keys that records name which do not open. */
  readonly needed: readonly string[]
  readonly part: number
  readonly place: readonly string[]
}

const NOT_BEGUN: Progress = { needed: [], part: 0, place: [] }

/** What was done towards another key does not count. */
export async function readProgress(
  { rows }: Session,
  { dialect }: KeyMaking,
  customerId: string,
  keyId: string,
): Promise<Progress> {
  const [row] = await rows({
    text: `select needed, part, place from ${dialect.tableName('reseal')}
      where customer_id = $1 and key_id = $2 ${dialect.forUpdate('wait')}`,
    values: [customerId, keyId],
  })
  if (row === undefined) return NOT_BEGUN
  const list = (column: string) =>
    attempt((): readonly string[] => JSON.parse(text(row, column))) ?? []
  return {
    needed: list('needed'),
    part: Number(row.part),
    place: list('place'),
  }
}

export async function writeProgress(
  { rows }: Session,
  { dialect }: KeyMaking,
  customerId: string,
  keyId: string,
  { needed, part, place }: Progress,
): Promise<void> {
  const set = ['key_id', 'needed', 'part', 'place']
  await rows({
    text: `insert into ${dialect.tableName('reseal')} (customer_id, ${set.join(', ')})
      values ($1, $2, $3, $4, $5)
      on conflict (customer_id) do update set
        ${set.map((column) => `${column} = excluded.${column}`).join(', ')}`,
    values: [customerId, keyId, JSON.stringify(needed), part, JSON.stringify(place)],
  })
}

/** Ends the walk. Older keys go, but for those that a record names which does not open. */
export async function finish(
  session: Session,
  deps: KeyMaking,
  customerId: string,
  needed: readonly string[],
): Promise<void> {
  const { dialect } = deps
  const { boolean, isAnyOf, parameter, list } = dialect
  const table = dialect.tableName('customer_key')
  const run = (statement: string, values: readonly string[] = []) =>
    session.rows({ text: statement, values: [customerId, ...values] })
  await run(`delete from ${dialect.tableName('reseal')} where customer_id = $1`)
  await run(
    `delete from ${table} where customer_id = $1 and current = ${boolean(false)}
      and not ${isAnyOf('id', parameter(2, 'text[]'))}`,
    [String(list(needed))],
  )
  const keyring = await deps.keyring()
  const left = needed.length === 0 ? undefined : await findKeys(session, deps, customerId)
  for (const key of left?.byId.values() ?? []) {
    const { id, kek, indexKey, wrapped } = wrap({ ...key, ...indexKeyOf(keyring) }, keyring)
    await run(
      `update ${table} set kek = $2, index_key = $3, wrapped = $4 where customer_id = $1 and id = $5`,
      [kek, indexKey, wrapped, id],
    )
  }
  await run(
    `update ${table} set seals_all = ${boolean(true)}
      where customer_id = $1 and current = ${boolean(true)}`,
  )
}
