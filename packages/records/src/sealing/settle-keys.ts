import { type Clock, type CustomerKey, digestOf } from '@bursar/base'
import { asTenant, type Resource } from '@bursar/contract'
import type { Dialect } from '../dialect.ts'
import { type NamedRow, text } from '../row.ts'
import type { Session } from '../session.ts'
import { KeysReplaced } from '../unavailable.ts'
import { insertKeys } from './customer-key-rows.ts'
import type { MadeKeys } from './customer-keys.ts'
import { inForm, openWith, type Seals } from './seals.ts'
import { staleCustomers } from './staged-keys.ts'

type Deps = {
  readonly dialect: Dialect
  readonly seals: Seals
  readonly clock: Clock
}

/**
 * Stores the keys that an import has made. Another writer may have stored one for the same customer
 * since, or replaced the key that the import has sealed with: then the staged bodies of the
 * customer are sealed again. In the transaction of the merge, with the locks of the customers.
 */
export async function settleKeys(
  session: Session,
  deps: Deps,
  resource: Resource,
  made: MadeKeys,
): Promise<void> {
  const { dialect, seals, clock } = deps
  const storing = { dialect, sealsAll: true, at: clock() }
  await insertKeys(
    session,
    storing,
    [...made.values()].map(({ wrapped }) => wrapped),
  )
  for (const customerId of await staleCustomers(session, dialect)) {
    const old = made.get(customerId)?.key ?? seals.known(customerId)
    seals.forget(customerId)
    const stored = (await seals.keys.find(asTenant(customerId), true))?.current
    const added = stored === undefined ? await seals.keys.make(asTenant(customerId)) : undefined
    if (added !== undefined) await insertKeys(session, storing, [added.wrapped])
    const current = stored ?? added?.key
    if (old === undefined || current === undefined) throw new KeysReplaced()
    await resealStaged(session, deps, resource, { old, current })
  }
}

async function resealStaged(
  { rows }: Session,
  { dialect }: Deps,
  resource: Resource,
  { old, current }: { readonly old: CustomerKey; readonly current: CustomerKey },
): Promise<void> {
  const { customerId } = current
  const { parameter, list } = dialect
  for (let after = -1n; ; ) {
    const found = await rows({
      text: `select sequence, id, full_body, full_checksum from staged_line
        where customer_id = ${parameter(1, 'text')} and key_id is not null
          and sequence > ${parameter(2, 'bigint')}
        order by sequence limit ${LINES_TOGETHER}`,
      values: [customerId, after],
    })
    const last = found.at(-1)
    if (last === undefined) return
    const sealed = found.map((row) => sealAgain(row, resource, { old, current }))
    await rows({
      text: `update staged_line set full_body = again.body, full_checksum = again.digest,
          key_id = ${parameter(4, 'text')}
        from ${dialect.unnest('again', { sequence: 'bigint[]', body: 'text[]', digest: 'bigint[]' })}
        where staged_line.sequence = again.sequence`,
      values: [
        list(found.map(({ sequence }) => String(sequence))),
        list(sealed.map(({ body }) => body)),
        list(sealed.map(({ digest }) => digest)),
        current.id,
      ],
    })
    after = BigInt(String(last.sequence))
  }
}

const LINES_TOGETHER = 500

function sealAgain(
  row: NamedRow,
  resource: Resource,
  { old, current }: { readonly old: CustomerKey; readonly current: CustomerKey },
) {
  const [id, stored] = [text(row, 'id'), text(row, 'full_body')]
  const { customerId } = current
  const checksum = Number(row.full_checksum)
  const body = openWith(old, resource, { customerId, id, body: stored, checksum })
  if (body === undefined) throw new KeysReplaced()
  const digest = digestOf(current, resource.kind, id, body)
  return { body: inForm(current, resource, { customerId, id, digest }, body), digest }
}
