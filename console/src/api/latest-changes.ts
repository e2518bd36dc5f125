import type { RecordData } from '../kinds/kind.ts'
import { kindNamed } from '../kinds/kinds.ts'
import type { Session } from '../session/console-session.ts'
import { type Origin, readPage } from './record-pages.ts'
import { requestJson } from './send-request.ts'

/** A change of a record of any customer. */
export type Change = {
  readonly id: string
  readonly customer_id: string
  readonly type: string
  readonly created_at: string
  readonly object: { readonly kind: string; readonly id: string }
  /** The record as a list shows it now; absent where it is gone, and of a fee. */
  readonly record?: RecordData
  readonly origin?: Origin
  /** What an update changed, and the status before and after it, where it is one of them. */
  readonly changed?: readonly string[]
  readonly status_before?: string
  readonly status_after?: string
}

/** The newest changes, newest first. */
export async function readLatestChanges(
  session: Session,
  customerId: string,
  signal?: AbortSignal,
): Promise<readonly Change[]> {
  const query = new URLSearchParams({ limit: '12', ...(customerId && { customer_id: customerId }) })
  const path = `/ingest/v1/changes/latest?${query}`
  const answer: { readonly changes: readonly Change[] } = await requestJson(session, path, {
    signal,
  })
  return await withRecords(session, answer.changes, signal)
}

/** Reads the records that changed, in one request for each customer and kind. */
async function withRecords(
  session: Session,
  changes: readonly Change[],
  signal: AbortSignal | undefined,
): Promise<readonly Change[]> {
  const lists = Map.groupBy(changes, ({ customer_id: id, object }) => `${object.kind} ${id}`)
  const pages = [...lists.values()].map(async ([first, ...others]) => {
    const kind = kindNamed(first?.object.kind)
    if (first === undefined || kind === undefined) return []
    const query = new URLSearchParams({ limit: '50' })
    for (const { object } of [first, ...others]) query.append(kind.idFilter, object.id)
    const wanted = { kind, customerId: first.customer_id, query }
    // A row without its record is named by its id.
    return (await readPage(session, wanted, { signal }).catch(() => undefined))?.records ?? []
  })
  const records = (await Promise.all(pages)).flat()
  const byId = new Map(records.map((record) => [record.id, record]))
  return changes.map((change) => {
    const record = byId.get(change.object.id)
    return record === undefined ? change : { ...change, record }
  })
}
