import { type Clock, type CustomerKey, digestOf } from '@bursar/base'
import { asTenant, type Resource } from '@bursar/contract'
import type { Dialect } from '../dialect.ts'
import { renewPrivateTerms } from '../records/terms.ts'
import { type NamedRow, optionalText, text, whole } from '../row.ts'
import type { Session } from '../session.ts'
import { KeysReplaced } from '../unavailable.ts'
import { insertKeys } from './customer-key-rows.ts'
import type { MadeKeys } from './customer-keys.ts'
import { partsOf } from './keyed-tables.ts'
import { inForm, openWith } from './opening.ts'
import { readStagedRows, renewRows } from './renewed-rows.ts'
import type { Seals } from './seals.ts'
import { lockNewKeys, staleCustomers, unfinishedCustomers } from './staged-keys.ts'

type Deps = {
  readonly dialect: Dialect
  readonly seals: Seals
  readonly clock: Clock
}

/**
 * Stores the keys that an import has made. Another writer may have stored one for the same customer
 * since, or replaced the key that the import has sealed with, and a purpose key may have been
 * renewed: then the staged bodies of the customer are sealed again. Stored records that have an
 * older key of their customer get the current one, so that they can be compared. In the transaction
 * of the merge, with the locks of the customers.
 */
export async function settleKeys(
  session: Session,
  deps: Deps,
  resource: Resource,
  made: MadeKeys,
): Promise<void> {
  const { dialect, seals, clock } = deps
  const [some] = made.keys()
  const now = some === undefined ? undefined : (await seals.keys.make(asTenant(some))).wrapped
  const usable = [...made.values()].filter(
    ({ wrapped }) => wrapped.kek === now?.kek && wrapped.indexKey === now.indexKey,
  )
  await lockNewKeys(session, dialect)
  await insertKeys(
    session,
    { dialect, clock, isFirst: true },
    usable.map(({ wrapped }) => wrapped),
  )
  for (const customerId of await staleCustomers(session, dialect)) {
    const old = made.get(customerId)?.key ?? seals.known(customerId)
    seals.forget(customerId)
    const stored = (await seals.keys.find(asTenant(customerId), true))?.current
    const current = stored ?? (await storeFirst(session, deps, customerId))
    if (old === undefined || current === undefined) throw new KeysReplaced()
    await resealStaged(session, deps, resource, { old, current })
  }
  for (const owner of await unfinishedCustomers(session, dialect)) {
    const keys = await seals.keys.find(asTenant(owner.customerId), true)
    const { current } = keys ?? {}
    if (keys === undefined || current === undefined) continue
    for (const part of partsOf(dialect)) {
      if (part.resource !== resource || !part.isCurrent) continue
      for (let after: bigint | undefined = -1n; after !== undefined; ) {
        const found: readonly NamedRow[] = await readStagedRows(
          session,
          dialect,
          part,
          owner.customerId,
          after,
        )
        await renewRows(session, dialect, part, owner, { ...keys, current }, found)
        const last = found.at(-1)
        after = last && whole(last, 'sequence')
      }
    }
  }
}

/** A first key, or the one that another process has stored in the meantime. */
async function storeFirst(
  session: Session,
  { dialect, seals, clock }: Deps,
  customerId: string,
): Promise<CustomerKey | undefined> {
  const { key, wrapped } = await seals.keys.make(asTenant(customerId))
  const stored = await insertKeys(session, { dialect, clock, isFirst: true }, [wrapped])
  if (stored.has(customerId)) return key
  return (await seals.keys.find(asTenant(customerId), true))?.current
}

async function resealStaged(
  { rows }: Session,
  { dialect }: Deps,
  resource: Resource,
  { old, current }: { readonly old: CustomerKey; readonly current: CustomerKey },
): Promise<void> {
  const { customerId } = current
  const { parameter, list } = dialect
  const hasTerms = resource.terms !== undefined
  for (let after = -1n; ; ) {
    const found = await rows({
      text: `select sequence, id, full_body, full_checksum ${hasTerms ? ', terms' : ''} from staged_line
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
          ${hasTerms ? 'terms = again.terms,' : ''} key_id = ${parameter(5, 'text')}
        from ${dialect.unnest('again', { sequence: 'bigint[]', body: 'text[]', digest: 'bigint[]', terms: 'text[]' })}
        where staged_line.sequence = again.sequence`,
      values: [
        list(found.map(({ sequence }) => String(sequence))),
        list(sealed.map(({ body }) => body)),
        list(sealed.map(({ digest }) => digest)),
        list(sealed.map((again) => again.terms)),
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
  const sealed = inForm(current, resource, { customerId, id, digest }, body)
  const staged = optionalText(row, 'terms')
  const terms =
    resource.terms === undefined || staged === undefined
      ? ''
      : renewPrivateTerms(resource.terms, staged, current.indexing, body)
  return { body: sealed, digest, terms }
}
