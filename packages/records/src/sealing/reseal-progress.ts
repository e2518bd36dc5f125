import { optionalText, optionalWhole } from '../row.ts'
import type { Session } from '../session.ts'
import type { KeyMaking } from './customer-key-rows.ts'

/** How far the bodies of a customer are. */
export type Progress = {
  readonly changed: number
  readonly failed: number
  readonly part: number
  readonly id: string | undefined
  readonly storedAt: bigint | undefined
}

const NOT_BEGUN: Progress = { changed: 0, failed: 0, part: 0, id: undefined, storedAt: undefined }

/** What was done towards another key does not count. */
export async function readProgress(
  { rows }: Session,
  { dialect }: KeyMaking,
  customerId: string,
  keyId: string,
): Promise<Progress> {
  const [row] = await rows({
    text: `select changed, failed, part, id, stored_at from ${dialect.tableName('reseal')}
      where customer_id = $1 and key_id = $2 ${dialect.forUpdate('wait')}`,
    values: [customerId, keyId],
  })
  if (row === undefined) return NOT_BEGUN
  return {
    changed: Number(row.changed),
    failed: Number(row.failed),
    part: Number(row.part),
    id: optionalText(row, 'id'),
    storedAt: optionalWhole(row, 'stored_at'),
  }
}

export async function writeProgress(
  { rows }: Session,
  { dialect, clock }: KeyMaking,
  customerId: string,
  keyId: string,
  { changed, failed, part, id, storedAt }: Progress,
): Promise<void> {
  const set = ['key_id', 'changed', 'failed', 'part', 'id', 'stored_at']
  await rows({
    text: `insert into ${dialect.tableName('reseal')}
        (customer_id, begun_at, ${set.join(', ')})
      values ($1, $2, $3, $4, $5, $6, ${dialect.parameter(7, 'uuid')}, $8)
      on conflict (customer_id) do update set
        ${set.map((column) => `${column} = excluded.${column}`).join(', ')}`,
    values: [customerId, clock(), keyId, changed, failed, part, id ?? null, storedAt ?? null],
  })
}

/** Ends the walk. Older keys go, unless a body that does not open may need one of them. */
export async function finish(
  { rows }: Session,
  { dialect }: KeyMaking,
  customerId: string,
  isWhole: boolean,
): Promise<void> {
  const table = dialect.tableName('customer_key')
  const { boolean } = dialect
  const run = (text: string, also = '') =>
    rows({ text: `${text} where customer_id = $1 ${also}`, values: [customerId] })
  await run(`delete from ${dialect.tableName('reseal')}`)
  if (isWhole) await run(`delete from ${table}`, `and current = ${boolean(false)}`)
  await run(`update ${table} set seals_all = ${boolean(true)}`, `and current = ${boolean(true)}`)
}
