import { fullTable, type ListView, type Tenant, type View } from '@bursar/contract'
import type { ReadPage, Selection } from '../records/page.ts'
import type { CustomerRecords } from '../records.ts'
import { openInClear, type Seals } from '../sealing/seals.ts'
import type { DamagedRecords } from './damaged-records.ts'
import type { Owners } from './owners.ts'

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
 * work: the scan finds damage (docs/decisions/0050-stored-bodies-have-checksums.md). A list, and a
 * get that finds nothing, compare the number that they have found for the customer.
 */
export function intactRecords(
  records: ReadRecords,
  damaged: DamagedRecords,
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
      const { kind } = view.resource
      const read = await records.get(tenant, view, id, includeDeleted)
      if (read === undefined) {
        // The scan may have found that a part of the record is missing.
        const known = damaged.errorOf(tenant, kind, id)
        if (known !== undefined) throw known
        await owners.requireStored(tenant)
        return undefined
      }
      const found = await opened(view, tenant, id, read)
      if ('body' in found) return found.body
      throw damaged.note({ customerId: tenant, kind, id, fault: found.fault }, async () => {
        const now = await records.get(tenant, view, id, includeDeleted)
        return now === undefined || 'body' in (await opened(view, tenant, id, now))
      })
    },
  }
}
