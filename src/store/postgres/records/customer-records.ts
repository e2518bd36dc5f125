import type { Resource } from '../../../contract/resource.ts'
import type { CustomerDoor } from '../../records.ts'
import type { Servers } from '../cluster/servers.ts'
import { type GetOne, openGetBatch } from './get-batch.ts'
import { openPageBatch, type PageOne, readAlone } from './page-batch.ts'
import { isStretch } from './page-query.ts'

/** The customers' door on PostgreSQL: every statement sets the wall to its tenant and looks up by the same. */
export function customerDoor(servers: Servers): CustomerDoor {
  const getOf = oncePer<string, GetOne>((table) => openGetBatch(servers, table))
  const pageOf = {
    ASC: oncePer<Resource, PageOne>((resource) => openPageBatch(servers, resource, 'ASC')),
    DESC: oncePer<Resource, PageOne>((resource) => openPageBatch(servers, resource, 'DESC')),
  }
  return {
    get: (tenant, { table }, id, reveal) => getOf(table)({ tenant, id, reveal }),
    page: (tenant, { resource }, selection) =>
      isStretch(resource, selection)
        ? pageOf[selection.order](resource)({ tenant, selection })
        : readAlone(servers, resource, { tenant, selection }),
  }
}

/** One for each key, made when it is first asked for. */
function oncePer<K, T>(make: (key: K) => T): (key: K) => T {
  const made = new Map<K, T>()
  return (key) => {
    const one = made.get(key) ?? make(key)
    made.set(key, one)
    return one
  }
}
