import { hash } from 'node:crypto'
import type { ListOperation } from '../../contract/operation.ts'
import type { Principal } from '../../contract/principal.ts'
import type { ParameterFault } from '../../contract/problem.ts'
import type { Answer } from '../../contract/request.ts'
import { openLentBuffers } from '../../platform/lent-buffers.ts'
import { version } from '../../platform/version.ts'
import type { Page, Selection } from '../../store/records.ts'
import {
  type Binding,
  type CursorFault,
  type CursorKeys,
  openCursor,
  sealCursor,
} from './cursor.ts'
import { invalidParameters } from './invalid-parameters.ts'
import type { ListInput } from './validate.ts'

/** The selection with its cursor opened. A cursor that was sealed for anything else is a 400. */
export function openPage(
  operation: ListOperation,
  principal: Principal,
  input: ListInput,
  keys: CursorKeys,
): Selection {
  if (input.cursor === undefined) return { ...input.selection, after: undefined }
  const place = openCursor(keys, input.cursor, bindingOf(operation, principal, input))
  if (typeof place === 'string') {
    const sentence = 'page_cursor token cannot be parsed'
    throw invalidParameters([{ parameter: 'page_cursor', ...cursorFaults[place], sentence }])
  }
  return { ...input.selection, after: place.position, notBefore: place.logPosition }
}

/** Puts the envelope around the stored bytes, with `next_page_cursor` only where rows remain. */
export function closePage(
  operation: ListOperation,
  principal: Principal,
  input: ListInput,
  page: Page,
  keys: CursorKeys,
): Answer {
  const next =
    page.more && page.last !== undefined
      ? { position: page.last, logPosition: page.logPosition }
      : undefined
  const tail =
    next === undefined
      ? ']}'
      : `],"next_page_cursor":"${sealCursor(keys, next, bindingOf(operation, principal, input))}"}`
  const head = `{"${operation.envelope}":[`
  const body = bodies.lend(head.length + page.items.length + tail.length)
  body.write(head, 0, 'latin1')
  body.set(page.items, head.length)
  body.write(tail, head.length + page.items.length, 'latin1')
  page.release?.()
  return {
    status: 200,
    headers: {
      'cache-control': 'private, no-cache',
      etag: etagOf(operation, principal.tenant, page, keys.current().id),
    },
    body,
    sent: () => bodies.takeBack(body),
  }
}

const bodies = openLentBuffers()

/**
 * A tag of what may change in the answer to one URL: the program's version, the tenant, the
 * revision of its records, where the page ends, and the cursor key, which may be revoked. A client
 * compares tags of one URL only, so the URL is not part of it. The tag is weak, because each cursor
 * is sealed anew: the bytes differ, the meaning does not.
 */
function etagOf(operation: ListOperation, tenant: string, page: Page, keyId: string): string {
  const end = page.last === undefined ? '' : Buffer.from(page.last).toString('base64url')
  const what = [version, operation.id, page.revision, tenant, page.rows, end, page.more, keyId]
  return `W/"${hash('sha1', JSON.stringify(what), 'base64url')}"`
}

const bindingOf = (
  { id }: ListOperation,
  { tenant }: Principal,
  { selection, filters }: ListInput,
): Binding => ({ tenant, operation: id, order: selection.order, filters })

const cursorFaults: Readonly<Record<CursorFault, Pick<ParameterFault, 'code' | 'reason'>>> = {
  malformed: { code: 'malformed', reason: 'token cannot be parsed' },
  other_list: { code: 'other_list', reason: 'was issued by another list' },
  other_order: { code: 'other_order', reason: 'was issued for the other order' },
  other_filters: { code: 'other_filters', reason: 'was issued for other filters' },
}
