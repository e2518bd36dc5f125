import { keepRecentlyUsed, limitsOf } from '@bursar/base'
import { asTenant } from '@bursar/contract'
import type { Dialect } from '../dialect.ts'
import { type NamedRow, text, whole } from '../row.ts'
import { ownerOf } from '../schema/customers.ts'
import type { Reads } from '../session.ts'
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
    const [number = '', binding = ''] = owner.split(' ')
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

/**
 * Compares the numbers of customers before records are stored under them, and binds those that the
 * transaction has added, of which it has the ids.
 */
export async function settleOwners(
  { rows }: Reads,
  { dialect, numbers }: { readonly dialect: Dialect; readonly numbers: CustomerNumbers },
  owners: readonly NamedRow[],
  added: readonly NamedRow[],
): Promise<void> {
  const isAdded = new Set(added.map(({ id }) => id))
  const bound: { readonly id: string; readonly binding: string }[] = []
  for (const row of owners) {
    const id = text(row, 'id')
    if (isAdded.has(id)) {
      const binding = await numbers.bindingOf(asTenant(id), whole(row, 'number'))
      bound.push({ id, binding: binding ?? '' })
    } else if (!(await numbers.isOwn(id, text(row, 'owner'))))
      throw new StoreDamaged(`customers: ${NOT_OWN}`)
  }
  for (let from = 0; from < bound.length; from += CUSTOMERS_TOGETHER) {
    const part = bound.slice(from, from + CUSTOMERS_TOGETHER)
    await rows({
      text: `update ${dialect.tableName('customer')} set binding = made.binding
        from ${dialect.unnest('made', { id: 'text[]', binding: 'text[]' })}
        where customer.id = made.id`,
      values: [
        dialect.list(part.map(({ id }) => id)),
        dialect.list(part.map(({ binding }) => binding)),
      ],
      prepare: true,
    })
  }
}

const CUSTOMERS_TOGETHER = 500

/** What is wrong with a customer whose number is not bound to its id. */
export const NOT_OWN =
  'the number of the customer belongs to a different one, or its row was changed'
