import type { Resource } from '../../contract/resource.ts'
import type { Dialect } from '../dialect.ts'
import type { DamageList } from '../integrity/damage.ts'
import type { CustomerEvents } from '../records/events.ts'
import type { CustomerRecords } from '../records.ts'
import type { Seals } from '../sealing/seals.ts'
import type { TenantReads } from '../session.ts'
import { openPastPages, pastRowReader } from './past-page.ts'
import { readEvents } from './read-events.ts'

type TenantSessions = {
  readonly dialect: Dialect
  readonly ofTenant: TenantReads
  readonly seals: Pick<Seals, 'open'>
}

/**
 * What a customer may read of its past. While damage of a kind is known, it is refused, as the
 * lists of the kind are.
 */
export function openTenantPast(
  { dialect, ofTenant, seals }: TenantSessions,
  damage: DamageList,
): Pick<CustomerRecords, 'pageAsOf' | 'events'> {
  const listing = async <T>(kinds: readonly string[], read: () => Promise<T>): Promise<T> => {
    for (const kind of kinds) damage.requireNone(kind)
    const found = await read()
    for (const kind of kinds) damage.requireNone(kind)
    return found
  }
  return {
    pageAsOf: (tenant, { resource, table }, selection) => {
      const { kind } = resource
      const reads = ofTenant(tenant, { kind, until: selection.asOf })
      const { pageAsOf } = openPastPages(pastRowReader(reads, dialect), seals)
      const view = isListed(resource, table) ? 'customer' : 'full'
      return listing([kind], () => pageAsOf(resource, tenant, view, selection))
    },
    events: (tenant, isFresh): CustomerEvents => {
      const reads = ofTenant(tenant, isFresh === true ? 'fresh' : undefined)
      const events = readEvents(reads, dialect, tenant)
      const ofKinds = (kinds: ReadonlySet<string>) => [...kinds].filter((kind) => kind !== 'fees')
      return {
        ...events,
        page: (selection) => listing(ofKinds(selection.kinds), () => events.page(selection)),
        stretch: (selection) => listing(ofKinds(selection.kinds), () => events.stretch(selection)),
        find: (kinds, change) => listing(ofKinds(kinds), () => events.find(kinds, change)),
      }
    },
  }
}

const isListed = ({ table }: Resource, shown: string): boolean => table === shown
