import { makeCustomerKey, PURPOSE_KEY_ID_LENGTH, systemRandom, systemTime } from '@bursar/base'
import type { Resource } from '@bursar/contract'
import { recordsLimits } from '../limits.ts'
import { text } from '../row.ts'
import type { Reads, Session } from '../session.ts'
import {
  findKeys,
  indexKeyOf,
  insertKeys,
  type KeyMaking,
  refreshed,
  type StoredKeysDeps,
  type WrappingKeys,
  withoutDestroyed,
  wrap,
} from './customer-key-rows.ts'
import type { CustomerKeys } from './customer-keys.ts'
import { type CustomerNumbers, rebindNumbers } from './customer-numbers.ts'
import { countRows, countWithoutKey, partsOf } from './keyed-tables.ts'
import { readRow, renewRows } from './renewed-rows.ts'
import { type ResealStep, takePart } from './reseal-part.ts'
import { openWithCustomer } from './with-customer.ts'
import { untilWritersEnd } from './writers-end.ts'

/** Brings stored records to the current keys, a customer after the other. */
export type Resealing = {
  /**
   * Renews the keys of customers that are under older purpose keys, and seals again what is under
   * an older key, of one customer or of all. Each step is a transaction.
   */
  walk(customerId?: string): AsyncGenerator<ResealStep>
  /** Binds the numbers of customers with the current key. */
  rebind(): ReturnType<typeof rebindNumbers>
  /** How much is stored under each purpose key, by its id. */
  countUnderKeys(): Promise<ReadonlyMap<string, number>>
  /**
   * Waits until every transaction has ended that may store something under a key which was current
   * before. False if that takes too long.
   */
  untilWritersEnd(): Promise<boolean>
  /** How many customers may have something under an older key yet, and how many records. */
  customersLeft(except?: readonly string[]): Promise<number>
  recordsLeft(): Promise<number>
  /** Customers with sealed records whose key is missing. */
  withoutKey(): Promise<number>
  /** Brings one record to the current key of its customer. */
  renew(resource: Resource, customerId: string, id: string): Promise<void>
  /** Gives a customer a new key, to which a walk brings its records. False if it has none. */
  rotate(customerId: string): Promise<boolean>
  /** How many records a customer has that no key opens any more, if its current key is lost. */
  countLost(customerId: string): Promise<number | undefined>
  /** Gives such a customer a new key. Nothing opens what it has, but for an older key. */
  startAnew(customerId: string): Promise<void>
}

type Deps = KeyMaking &
  Reads &
  Pick<StoredKeysDeps, 'findDestroyedKeys' | 'transact'> & { readonly numbers: CustomerNumbers }

/**
 * Each step holds the row of the customer as a merge does. So nothing is stored with an old key
 * behind it, and a process that was killed has lost one step. Several may walk at once.
 */
export function openResealing(deps: Deps): Resealing {
  const { dialect, rows } = deps
  const parts = partsOf(dialect)
  const withCustomer = openWithCustomer(deps)
  const table = dialect.tableName('customer_key')
  const { parameter, boolean } = dialect
  const isLeft = `current = ${boolean(true)} and (seals_all = ${boolean(false)}
    or kek <> ${parameter(1, 'text')} or index_key <> ${parameter(2, 'text')})`
  const currentIds = (keyring: WrappingKeys) => [
    keyring.current('customer-key').id,
    keyring.current('name-index').id,
  ]
  const nextAfter = async (keyring: WrappingKeys, after: string) => {
    const [found] = await rows({
      text: `select customer_id from ${table}
        where ${isLeft} and customer_id > ${parameter(3, 'text')} order by customer_id limit 1`,
      values: [...currentIds(keyring), after],
    })
    return found && text(found, 'customer_id')
  }
  const isOutdated = async (session: Session, keyring: WrappingKeys, customerId: string) => {
    const found = await session.rows({
      text: `select 1 from ${table} where customer_id = $1 and current = ${boolean(true)}
        and (kek <> $2 or index_key <> $3)`,
      values: [customerId, ...currentIds(keyring)],
    })
    return found.length > 0
  }
  const replaceKey = async (
    session: Session,
    customerId: string,
    previous: CustomerKeys['current'],
  ) => {
    await session.rows({
      text: `update ${table} set current = ${boolean(false)} where customer_id = $1`,
      values: [customerId],
    })
    const keyring = await deps.keyring()
    const key = makeCustomerKey(customerId, systemRandom, indexKeyOf(keyring), previous)
    await insertKeys(session, { ...deps, isFirst: false }, [wrap(key, keyring)])
  }
  /** The keys that may be used. None is made to follow one that an erasure has destroyed. */
  const usableKeys = async (session: Session, customerId: string) => {
    const keys = await findKeys(session, deps, customerId)
    const usable = keys && (await withoutDestroyed(keys, deps))
    return usable?.current === undefined ? undefined : { ...usable, current: usable.current }
  }
  const takeStep = (keyring: WrappingKeys, customerId: string): Promise<ResealStep | undefined> =>
    withCustomer(customerId, async (session, number) => {
      const keys = await usableKeys(session, customerId)
      if (keys === undefined) return undefined
      if (await isOutdated(session, keyring, customerId)) {
        await replaceKey(session, customerId, keys.current)
        return { customerId, changed: 0, unopened: [], isEnd: false }
      }
      return await takePart(session, deps, parts, { customerId, number }, keys)
    })
  async function* walkOne(keyring: WrappingKeys, customerId: string): AsyncGenerator<ResealStep> {
    for (;;) {
      const step = await takeStep(keyring, customerId)
      if (step === undefined) {
        yield { customerId, changed: 0, unopened: [], isEnd: true, isStuck: true }
        return
      }
      yield step
      if (step.isEnd) return
      await systemTime.pause(recordsLimits.resealRestMs)
    }
  }
  return {
    walk: async function* (only) {
      const keyring = await refreshed(deps)
      if (only !== undefined) return yield* walkOne(keyring, only)
      // Another round finds customers that came in between. A key that does not open ends none.
      for (let found = 1; found > 0; ) {
        found = 0
        let customerId = await nextAfter(keyring, '')
        while (customerId !== undefined) {
          for await (const step of walkOne(keyring, customerId)) {
            if (step.isStuck !== true) found += 1
            yield step
          }
          customerId = await nextAfter(keyring, customerId)
        }
      }
    },
    rebind: async function* () {
      const keyring = await refreshed(deps)
      yield* rebindNumbers(deps, keyring.current('customer-number').id)
    },
    countUnderKeys: async () => {
      const found = await rows({
        text: `select kek as id, count(*) as rows from ${table} group by kek
          union all select index_key, count(*) from ${table} group by index_key
          union all select split, count(*) from (
            select substr(binding, 1, ${PURPOSE_KEY_ID_LENGTH}) as split
            from ${dialect.tableName('customer')}
          ) as bound group by split
          union all select key_id, count(*) from ${dialect.tableName('import')} group by key_id`,
      })
      return new Map(found.map((row) => [text(row, 'id'), Number(row.rows)]))
    },
    untilWritersEnd: () => untilWritersEnd(deps),
    customersLeft: async (except = []) => {
      const isExcepted = dialect.isAnyOf('customer_id', parameter(3, 'text[]'))
      const [counted = {}] = await rows({
        text: `select count(*) as customers from ${table} where ${isLeft} and not ${isExcepted}`,
        values: [...currentIds(await refreshed(deps)), dialect.list(except)],
      })
      return Number(counted.customers)
    },
    recordsLeft: async () => {
      const [counted = {}] = await rows({
        text: `select ${countRows(dialect, `select customer_id from ${table} where ${isLeft}`)} as records`,
        values: currentIds(await refreshed(deps)),
      })
      return Number(counted.records)
    },
    withoutKey: async () => {
      const [counted = {}] = await rows({ text: countWithoutKey(dialect) })
      return Number(counted.customers)
    },
    renew: (resource, customerId, id) =>
      withCustomer(customerId, async (session, number) => {
        const keys = await usableKeys(session, customerId)
        if (number === undefined || keys === undefined) return
        for (const part of parts) {
          if (part.resource !== resource || !part.isCurrent) continue
          const found = await readRow(session, dialect, part, number, id)
          await renewRows(session, dialect, part, { customerId, number }, keys, found)
        }
      }),
    rotate: async (customerId) => {
      await refreshed(deps)
      return await withCustomer(customerId, async (session) => {
        const known = await usableKeys(session, customerId)
        if (known === undefined) return false
        await replaceKey(session, customerId, known.current)
        return true
      })
    },
    countLost: async (customerId) => {
      const known = await findKeys(deps, deps, customerId)
      if (known?.current !== undefined) return undefined
      const [counted = {}] = await rows({
        text: `select ${countRows(dialect, parameter(1, 'text'))} as bodies`,
        values: [customerId],
      })
      const lost = Number(counted.bodies)
      return known === undefined && lost === 0 ? undefined : lost
    },
    startAnew: async (customerId) => {
      await refreshed(deps)
      await withCustomer(customerId, async (session) => {
        const known = await findKeys(session, deps, customerId)
        if (known?.current === undefined) await replaceKey(session, customerId, undefined)
      })
    },
  }
}
