import { fullTable, type ListView, type Resource, type Tenant, type View } from '@bursar/contract'
import type { Dialect } from '../dialect.ts'
import type { ReadPage, Selection } from '../records/page.ts'
import type { CustomerRecords } from '../records.ts'
import { customerNumber } from '../schema/customers.ts'
import { openInClear, type Seals } from '../sealing/seals.ts'
import type { TenantReads } from '../session.ts'
import type { KnownDamage } from './known-damage.ts'
import type { Owners } from './owners.ts'
import { FULL_MISSING } from './stored-rows.ts'

/** What an adapter reads. Rejects with a StoreCorrupted if it cannot read. */
export type ReadRecords = Pick<CustomerRecords, 'revision'> & {
  page(tenant: Tenant, view: ListView, selection: Selection): Promise<ReadPage>
  /** Not yet compared with its checksum. */
  get(...asked: Parameters<CustomerRecords['get']>): Promise<ReadBody>
}

/** Whether a record of a customer has lost its full row, which one statement sees. */
export type IsTorn = (tenant: Tenant, resource: Resource, id: string) => Promise<boolean>

export function openIsTorn(ofTenant: TenantReads, dialect: Dialect): IsTorn {
  const { tableName, parameter, listedId } = dialect
  return async (tenant, resource, id) => {
    const found = await ofTenant(tenant).rows({
      text: `select 1 from ${tableName(resource.table)} as record
        where record.customer = ${customerNumber(dialect, parameter(1, 'text'))}
          and ${listedId.is('record', parameter(2, 'uuid'))} and record.id_taken = false
          and not exists (select 1 from ${tableName(fullTable(resource))} as unmasked
            where unmasked.customer = record.customer and unmasked.id = ${listedId.of('record')})`,
      values: [tenant, id],
      prepare: true,
    })
    return found.length > 0
  }
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
  isTorn: IsTorn,
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
        await owners.requireStored(tenant)
        const { table, mask } = view.resource
        const isFull = mask !== undefined && view.table !== table
        if (isFull && (await isTorn(tenant, view.resource, id))) {
          throw damage.noteRead({ kind, id, fault: FULL_MISSING })
        }
        return undefined
      }
      const found = await opened(view, tenant, id, read)
      if ('body' in found) return found.body
      throw damage.noteRead({ kind, id, fault: found.fault })
    },
  }
}
