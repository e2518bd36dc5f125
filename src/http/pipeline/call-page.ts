import type { IngestAnswer, IngestCall, IngestInput } from '../../contract/ingest-operation.ts'
import { type Binding, type CursorKeys, sealCursor } from './cursor.ts'
import { openAfter } from './page.ts'

type Parameters = IngestInput['parameters']

/** A cursor of a call is of no use to a client of another customer, or with other parameters. */
function bindingOf(
  { id }: IngestCall,
  { boundTo }: IngestInput['caller'],
  parameters: Parameters,
): Binding {
  const others = [...parameters].filter(([name]) => name !== 'page_cursor' && name !== 'limit')
  return {
    tenant: boundTo === null ? 'operator' : `operator ${boundTo}`,
    operation: id,
    order: 'ASC',
    filters: JSON.stringify(others.toSorted(), (_name, value) =>
      typeof value === 'bigint' ? String(value) : value,
    ),
  }
}

/** The place that the page of a call comes after. Throws a 400 for a cursor of something else. */
export function openCallPage(
  operation: IngestCall,
  caller: IngestInput['caller'],
  parameters: Parameters,
  keys: CursorKeys,
): Uint8Array | undefined {
  const cursor = String(parameters.get('page_cursor') ?? '')
  if (cursor === '') return undefined
  return openAfter(cursor, bindingOf(operation, caller, parameters), keys)?.position
}

/** The body of a call, with the cursor of the next page where its work names a place. */
export function closeCallPage(
  operation: IngestCall,
  caller: IngestInput['caller'],
  parameters: Parameters,
  { body, next }: IngestAnswer,
  keys: CursorKeys,
): IngestAnswer['body'] {
  if (next === undefined) return body
  const cursor = sealCursor(keys, { position: next }, bindingOf(operation, caller, parameters))
  return { ...Object(body), next_page_cursor: cursor }
}
