import type { RecordKind, Resource } from '../../contract/resource.ts'
import type { CustomerDoor } from '../store.ts'
import { type GetOne, openGetBatch } from './get-batch.ts'
import { openPageBatch, type PageOne, readAlone } from './page-batch.ts'
import { isStretch } from './page-query.ts'
import type { Servers } from './servers.ts'

/** The customers' door on PostgreSQL: every statement sets the wall to its tenant and looks up by the same. */
export function customerDoor(servers: Servers): CustomerDoor {
  const getOf = byKind<GetOne>((resource) => openGetBatch(servers, resource))
  const pageOf = {
    ASC: byKind<PageOne>((resource) => openPageBatch(servers, resource, 'ASC')),
    DESC: byKind<PageOne>((resource) => openPageBatch(servers, resource, 'DESC')),
  }
  return {
    get: (tenant, { resource }, id, reveal) => getOf(resource)({ tenant, id, reveal }),
    page: (tenant, { resource }, selection, use) =>
      isStretch(resource, selection)
        ? pageOf[selection.order](resource)({ tenant, selection }, use)
        : readAlone(servers, resource, { tenant, selection }, use),
  }
}

/** One for each kind of record, made when it is first asked for. */
function byKind<T>(make: (resource: Resource) => T): (resource: Resource) => T {
  const made = new Map<RecordKind, T>()
  return (resource) => {
    const one = made.get(resource.kind) ?? make(resource)
    made.set(resource.kind, one)
    return one
  }
}
