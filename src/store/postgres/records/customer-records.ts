import type { Resource } from '../../../contract/resource.ts'
import type { ReadRecords } from '../../integrity/verified-records.ts'
import type { Servers } from '../cluster/servers.ts'
import { type GetOne, openGetBatch } from './get-batch.ts'
import { openPageBatch, type PageOne, readAlone } from './page-batch.ts'
import { isRange } from './page-query.ts'
import { openRevisionBatch } from './revision-batch.ts'

/** Every statement sets the tenant of row-level security and filters by it too. */
export function customerRecords(servers: Servers): ReadRecords {
  const getOf = oncePer<string, GetOne>((table) => openGetBatch(servers, table))
  const pageOf = {
    ASC: oncePer<Resource, PageOne>((resource) => openPageBatch(servers, resource, 'ASC')),
    DESC: oncePer<Resource, PageOne>((resource) => openPageBatch(servers, resource, 'DESC')),
  }
  const revisionOf = openRevisionBatch(servers)
  return {
    changedAt: (tenant, { kind }) => revisionOf({ tenant, kind }),
    get: (tenant, { table }, id, includeDeleted) => getOf(table)({ tenant, id, includeDeleted }),
    page: (tenant, { resource }, selection) =>
      isRange(resource, selection)
        ? pageOf[selection.order](resource)({ tenant, selection })
        : readAlone(servers, resource, { tenant, selection }),
  }
}

/** Makes one value for each key, when the key is first used. */
function oncePer<K, T>(make: (key: K) => T): (key: K) => T {
  const made = new Map<K, T>()
  return (key) => {
    const one = made.get(key) ?? make(key)
    made.set(key, one)
    return one
  }
}
