import { fullTable, type ListView, type Tenant, type View } from '@bursar/contract'
import type { ReadPage, Selection } from '../records/page.ts'
import type { CustomerRecords } from '../records.ts'
import { openInClear, type Seals } from '../sealing/seals.ts'
import type { KnownDamage } from './known-damage.ts'
import type { Owners } from './owners.ts'
import { FULL_MISSING } from './stored-rows.ts'

/** What an adapter reads. Rejects with a StoreCorrupted if it cannot read. */
export type ReadRecords = Pick<CustomerRecords, 'revision'> & {
  page(tenant: Tenant, view: ListView, selection: Selection): Promise<ReadPage>
  /** Not yet compared with its checksum. */
  get(...asked: Parameters<CustomerRecords['get']>): Promise<ReadBody>
}

type Found = { readonly body: string | Buffer; readonly checksum: number }

export type ReadBody = Found | undefined

/**
 * Compares each record that a get reads with its checksum. A list does not, which would double its
 * work: the walk finds damage (docs/decisions/0050-stored-bodies-have-checksums.md). A list, and a
 * get that finds nothing, compare the number that they have found for the customer.
 */
export function intactRecords(
  records: ReadRecords,
  damage: KnownDamage,
  { openOften }: Pick<Seals, 'openOften'>,
  owners: Owners,
): Pick<CustomerRecords, 'get' | 'page' | 'revision'> {
  const opened = ({ resource, table }: View, tenant: Tenant, id: string, read: Found) => {
    const stored = { customerId: tenant, id, body: String(read.body), checksum: read.checksum }
    return table === fullTable(resource) ? openOften(resource, stored) : openInClear(stored)
  }
  return {
    ...records,
    async page(tenant, view, selection) {
      const page = await records.page(tenant, view, selection)
      try {
        await owners.require(tenant, page.owner)
        return page
      } catch (error) {
        page.release?.()
        throw error
      }
    },
    async get(tenant, view, id, includeDeleted) {
      const { kind, table, mask } = view.resource
      const read = await records.get(tenant, view, id, includeDeleted)
      if (read === undefined) {
        await owners.requireStored(tenant)
        // A record that has lost its full body is no unknown id.
        const listed =
          mask === undefined || view.table === table
            ? undefined
            : await records.get(tenant, { ...view, table }, id, includeDeleted)
        if (listed === undefined) return undefined
        throw damage.noteRead({ kind, id, fault: FULL_MISSING })
      }
      const found = await opened(view, tenant, id, read)
      if ('body' in found) return found.body
      throw damage.noteRead({ kind, id, fault: found.fault })
    },
  }
}
