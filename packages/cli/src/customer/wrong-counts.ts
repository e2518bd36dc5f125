import type { CustomerRegister, WrongCount } from '@bursar/records'
import { pagesOf } from './list-customers.ts'

/** The kept counts of each customer that differ from its records, or that it has corrected. */
export async function* wrongCounts(
  customers: CustomerRegister,
  corrects: boolean,
): AsyncIterable<readonly WrongCount[]> {
  for await (const page of pagesOf(customers)) {
    for (const { id } of page) yield await customers.recount(id, corrects)
  }
}
