import type { Resource } from '@bursar/contract'
import type { Dialect } from '../dialect.ts'
import type { RequireOwner } from '../integrity/owners.ts'
import type { CustomerRecords } from '../records.ts'
import type { Seals } from '../sealing/seals.ts'
import type { TenantReads } from '../session.ts'
import { openPastPages, pastRowReader } from './past-page.ts'
import { readEvents } from './read-events.ts'

type TenantSessions = {
  readonly dialect: Dialect
  readonly ofTenant: TenantReads
  readonly seals: Pick<Seals, 'openInTurn'>
  readonly requireOwner: RequireOwner
}

/** What a customer may read of its past. */
export function openTenantPast({
  dialect,
  ofTenant,
  seals,
  requireOwner,
}: TenantSessions): Pick<CustomerRecords, 'pageAsOf' | 'events'> {
  return {
    pageAsOf: (tenant, { resource, table }, selection) => {
      const reads = ofTenant(tenant, { kind: resource.kind, until: selection.asOf })
      const { pageAsOf } = openPastPages(pastRowReader(reads, dialect), seals, requireOwner)
      const view = isListed(resource, table) ? 'customer' : 'full'
      return pageAsOf(resource, tenant, view, selection)
    },
    events: (tenant, isFresh) => {
      const reads = ofTenant(tenant, isFresh === true ? 'fresh' : undefined)
      return readEvents(reads, dialect, tenant, requireOwner)
    },
  }
}

const isListed = ({ table }: Resource, shown: string): boolean => table === shown
