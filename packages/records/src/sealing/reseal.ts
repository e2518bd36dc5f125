import {
  type BodyPlace,
  type CustomerKey,
  keyIdOf,
  makeCustomerKey,
  systemRandom,
} from '@bursar/base'
import { isSealedKind, type Resource } from '@bursar/contract'
import type { Dialect } from '../dialect.ts'
import { recordsLimits } from '../limits.ts'
import { type NamedRow, text, whole } from '../row.ts'
import type { Reads, Session, Transact } from '../session.ts'
import { findKeys, insertKey, type KeyMaking } from './customer-key-rows.ts'
import type { CustomerKeys } from './customer-keys.ts'
import {
  type Changed,
  countBodies,
  countWithoutKey,
  type Part,
  partsOf,
  readBodies,
  writeBodies,
} from './reseal-bodies.ts'
import { finish, readProgress, writeProgress } from './reseal-progress.ts'
import { inForm, openWith } from './seals.ts'

/** Brings stored bodies to the current key of their customer, a customer after the other. */
export type Resealing = {
  /** Takes the next step, of some bodies of one customer. Undefined if nothing is left. */
  next(): Promise<ResealStep | undefined>
  /** What may be under an older key yet. */
  left(): Promise<{ readonly customers: number; readonly bodies: number }>
  /** Customers with sealed records whose key is missing. */
  withoutKey(): Promise<number>
  /** Gives a customer a new key, to which the next steps bring its bodies. False if it has none. */
  rotate(customerId: string): Promise<boolean>
}

/** `end` has the figures of a customer whose bodies all have the current key now. */
export type ResealStep = {
  readonly end?: { readonly changed: number; readonly failed: number } | undefined
}

type Deps = KeyMaking &
  Reads & {
    readonly transact: Transact
    readonly resources: readonly Resource[]
  }

/**
 * Each step is one transaction, which holds the row of the customer as a merge does. So no body is
 * stored with an old key behind it, and a process that was killed has lost one step. Several
 * processes may do it at once.
 */
export function openResealing(deps: Deps): Resealing {
  const { dialect, rows, transact, resources } = deps
  const parts = resources.filter(isSealedKind).flatMap((resource) => partsOf(resource, dialect))
  const table = dialect.tableName('customer_key')
  const isLeft = `current = ${dialect.boolean(true)} and seals_all = ${dialect.boolean(false)}`
  /** A customer whose key does not open is passed over, until the next round. */
  let after = ''
  return {
    next: async () => {
      const [found] = await rows({
        text: `select customer_id from ${table}
          where ${isLeft} and customer_id > ${dialect.parameter(1, 'text')}
          order by customer_id limit 1`,
        values: [after],
      })
      if (found === undefined) {
        const isRoundOver = after === ''
        after = ''
        return isRoundOver ? undefined : {}
      }
      const customerId = text(found, 'customer_id')
      const step = await transact((session) => takeStep(session, deps, parts, customerId))
      if (step === 'unopened') after = customerId
      return step === 'unopened' ? {} : step
    },
    left: async () => {
      const [counted = {}] = await rows({
        text: `select count(*) as customers, ${countBodies(dialect, parts, `select customer_id from ${table} where ${isLeft}`)} as bodies
          from ${table} where ${isLeft}`,
      })
      return { customers: Number(counted.customers), bodies: Number(counted.bodies) }
    },
    withoutKey: async () => {
      const [counted = {}] = await rows({ text: countWithoutKey(dialect, parts) })
      return Number(counted.customers)
    },
    rotate: (customerId) =>
      transact(async (session) => {
        await lockCustomer(session, dialect, customerId)
        const known = await findKeys(session, deps, customerId)
        if (known?.current === undefined) return false
        await session.rows({
          text: `update ${table} set current = ${dialect.boolean(false)} where customer_id = $1`,
          values: [customerId],
        })
        const key = makeCustomerKey(customerId, systemRandom, known.current)
        await insertKey(session, deps, key, false)
        return true
      }),
  }
}

async function lockCustomer(
  { rows }: Session,
  { tableName, forUpdate }: Dialect,
  customerId: string,
): Promise<bigint | undefined> {
  const [row] = await rows({
    text: `select number from ${tableName('customer')} where id = $1 ${forUpdate('wait')}`,
    values: [customerId],
  })
  return row && whole(row, 'number')
}

async function takeStep(
  session: Session,
  deps: Deps,
  parts: readonly Part[],
  customerId: string,
): Promise<ResealStep | 'unopened'> {
  const { dialect } = deps
  const number = await lockCustomer(session, dialect, customerId)
  const keys = await findKeys(session, deps, customerId)
  if (keys?.current === undefined) return 'unopened'
  const { current } = keys
  const before = await readProgress(session, deps, customerId, current.id)
  const part = number === undefined ? undefined : parts[before.part]
  if (part === undefined || number === undefined) {
    const isWhole = before.failed === 0
    await finish(session, deps, customerId, isWhole)
    return { end: before }
  }
  const found = await readBodies(session, dialect, part, number, before)
  const changed: Changed[] = []
  let failed = 0
  for (const row of found) {
    const stored = storedOf(row, customerId)
    if (keyIdOf(stored.body) === current.id) continue
    const body = sealedAgain(part.resource, stored, { current, byId: keys.byId })
    if (body === undefined) failed += 1
    else changed.push({ row, body })
  }
  await writeBodies(session, dialect, part, number, changed)
  const last = found.at(-1)
  const isPartOver = found.length < recordsLimits.resealedTogether || last === undefined
  await writeProgress(session, deps, customerId, current.id, {
    changed: before.changed + changed.length,
    failed: before.failed + failed,
    part: isPartOver ? before.part + 1 : before.part,
    id: isPartOver ? undefined : text(last, 'id'),
    storedAt: isPartOver || last.stored_at === undefined ? undefined : whole(last, 'stored_at'),
  })
  return {}
}

type Stored = Omit<BodyPlace, 'kind' | 'digest'> & {
  readonly body: string
  readonly checksum: number
}

const storedOf = (row: NamedRow, customerId: string): Stored => ({
  customerId,
  id: text(row, 'id'),
  body: text(row, 'body'),
  checksum: Number(row.checksum),
})

/** The body under the current key. Undefined if it does not open. */
function sealedAgain(
  resource: Resource,
  stored: Stored,
  { current, byId }: CustomerKeys & { readonly current: CustomerKey },
): string | undefined {
  const key = byId.get(keyIdOf(stored.body) ?? '')
  const body = key && openWith(key, resource, stored)
  if (body === undefined) return undefined
  const { customerId, id, checksum } = stored
  return inForm(current, resource, { customerId, id, digest: checksum }, body)
}
