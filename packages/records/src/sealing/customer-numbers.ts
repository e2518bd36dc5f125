import { keepRecentlyUsed, limitsOf } from '@bursar/base'
import { asTenant } from '@bursar/contract'
import type { Dialect } from '../dialect.ts'
import { type NamedRow, text, whole } from '../row.ts'
import { ownerOf } from '../schema/customers.ts'
import type { Reads, Session, Transact } from '../session.ts'
import { StoreDamaged } from '../unavailable.ts'
import type { CustomerKeySource } from './customer-keys.ts'

const limits = limitsOf({
  /** Customers whose numbers a process has compared, some 200 bytes each. */
  comparedNumbersMax: 20_000,
})

type Bindings = Pick<CustomerKeySource, 'bindingOf'>

/** Whether the table of customers gives each customer its own number. */
export type CustomerNumbers = Bindings & {
  /** Compares an `ownerOf` with its binding. Without a promise if that was compared before. */
  isOwn(customerId: string, owner: string): boolean | Promise<boolean>
}

/** A text that was compared stays in memory. Any other text of the customer is compared again. */
export function openCustomerNumbers({ bindingOf }: Bindings): CustomerNumbers {
  const compared = keepRecentlyUsed<string, string>(limits.comparedNumbersMax)
  const compare = async (customerId: string, owner: string) => {
    const [number = ''] = owner.split(' ')
    const binding = bindingIn(owner)
    const [keyId = ''] = binding.split('.')
    const isOwn = binding === (await bindingOf(asTenant(customerId), BigInt(number), keyId))
    if (isOwn) compared.set(customerId, owner)
    return isOwn
  }
  return {
    bindingOf,
    isOwn: (customerId, owner) => compared.get(customerId) === owner || compare(customerId, owner),
  }
}

/** The customers of the staged records. */
export const stagedOwners = ({ tableName }: Pick<Dialect, 'tableName'>): string => `
  select id, number, ${ownerOf('owner')} as owner from ${tableName('customer')} as owner
  where id in (select customer_id from staged_line)`

type Deps = { readonly dialect: Dialect; readonly numbers: CustomerNumbers }

/**
 * Adds the customers of the staged records and binds their numbers. A number that the transaction
 * gives is larger than each that was there before, and every other one has its binding.
 */
export async function addBoundCustomers(
  session: Pick<Session, 'rows' | 'run' | 'iterate'>,
  deps: Deps,
  addCustomers: string,
): Promise<void> {
  const { dialect } = deps
  const [row = {}] = await session.rows({
    text: `select coalesce(max(number), 0) as last from ${dialect.tableName('customer')}`,
  })
  const last = whole(row, 'last')
  await session.run(addCustomers)
  const owners = session.iterate({ text: stagedOwners(dialect) })
  await settleOwners(session, deps, owners, (owner) => {
    return whole(owner, 'number') > last && bindingIn(text(owner, 'owner')) === ''
  })
}

/** How many numbers were bound again, and the ids of customers that have other ones. */
type Rebound = { readonly bound: number; readonly refused: readonly string[] }

/**
 * Binds numbers with the current key, a bounded number in each step. A number that is not its
 * customer's stays refused.
 */
export async function* rebindNumbers(
  { rows, dialect, numbers, transact }: Deps & Reads & { readonly transact: Transact },
  keyId: string,
): AsyncGenerator<Rebound> {
  const { parameter, list, tableName } = dialect
  for (let after = 0n; ; ) {
    const found = await rows({
      text: `select id, number, ${ownerOf('owner')} as owner from ${tableName('customer')} as owner
        where number > ${parameter(1, 'bigint')} order by number limit ${OWNERS_TOGETHER}`,
      values: [after],
    })
    const last = found.at(-1)
    if (last === undefined) return
    after = whole(last, 'number')
    const made: { id: string; old: string; binding: string }[] = []
    const refused: string[] = []
    for (const row of found) {
      const [id, owner] = [text(row, 'id'), text(row, 'owner')]
      const old = bindingIn(owner)
      if (old.startsWith(`${keyId}.`)) continue
      const binding = await numbers.bindingOf(asTenant(id), whole(row, 'number'))
      if (binding === undefined || !(await numbers.isOwn(id, owner))) refused.push(id)
      else made.push({ id, old, binding })
    }
    if (made.length > 0) {
      const binding = {
        text: `update ${tableName('customer')} as owner set binding = made.binding
          from ${dialect.unnest('made', { id: 'text[]', old: 'text[]', binding: 'text[]' })}
          where owner.id = made.id and owner.binding = made.old`,
        values: [
          list(made.map(({ id }) => id)),
          list(made.map(({ old }) => old)),
          list(made.map(({ binding }) => binding)),
        ],
      }
      await transact((session) => session.rows(binding))
    }
    yield { bound: made.length, refused }
  }
}

const OWNERS_TOGETHER = 500

const bindingIn = (owner: string): string => owner.slice(owner.indexOf(' ') + 1)

/**
 * Compares the numbers of customers before records are stored under them, and binds those that the
 * transaction has added.
 */
export async function settleOwners(
  { rows }: Reads,
  { dialect, numbers }: Deps,
  owners: Iterable<NamedRow> | AsyncIterable<NamedRow>,
  isAdded: (owner: NamedRow) => boolean,
): Promise<void> {
  const bound: { readonly id: string; readonly binding: string }[] = []
  const bind = async () => {
    const made = bound.splice(0)
    if (made.length === 0) return
    await rows({
      text: `update ${dialect.tableName('customer')} set binding = made.binding
        from ${dialect.unnest('made', { id: 'text[]', binding: 'text[]' })}
        where customer.id = made.id`,
      values: [
        dialect.list(made.map(({ id }) => id)),
        dialect.list(made.map(({ binding }) => binding)),
      ],
      prepare: true,
    })
  }
  for await (const row of owners) {
    const id = text(row, 'id')
    if (isAdded(row)) {
      const binding = await numbers.bindingOf(asTenant(id), whole(row, 'number'))
      bound.push({ id, binding: binding ?? '' })
      if (bound.length === CUSTOMERS_TOGETHER) await bind()
    } else if (!(await numbers.isOwn(id, text(row, 'owner')))) {
      throw new StoreDamaged(`customers: ${NOT_OWN}`)
    }
  }
  await bind()
}

const CUSTOMERS_TOGETHER = 500

/** What is wrong with a customer whose number is not bound to its id. */
export const NOT_OWN =
  'the number of the customer belongs to a different one, or its row was changed'
