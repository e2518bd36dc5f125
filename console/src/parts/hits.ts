import type { Hit } from '../api/find-hits.ts'
import { kindNamed } from '../kinds/kinds.ts'
import { linkTo } from '../router.ts'
import { shortId } from '../values/ids.ts'
import { capital } from '../values/labels.ts'

/** What a person calls a hit: the title of its record, where the search answers with it. */
export function hitTitle({ kind, id, record }: Hit): string {
  const own = kindNamed(kind)
  if (own === undefined) return `Withdrawal fee ${shortId(id)}`
  return record === undefined ? `${capital(own.noun)} ${shortId(id)}` : own.titleOf(record)
}

export function hitLink({ kind, id, customer_id: customer }: Hit): string {
  const place: readonly [string, string][] = [['customer', customer]]
  return kind === 'fees'
    ? linkTo(['fees'], [['id', id], ...place])
    : linkTo(['record', kind, id], place)
}
