import { type IngestOperation, ingestRecord } from '../../contract/operation.ts'
import type { Resource } from '../../contract/resource.ts'
import { resources } from '../../resources/catalogue.ts'

/** One operation for each kind of record, as the operator's systems sent it. */
export const getStoredRecords: readonly IngestOperation[] = resources.map((resource) =>
  ingestRecord({
    id: `getStored${nameOf(resource)}`,
    summary: `Returns a stored ${resource.noun} of any customer as import accepts it, also a deleted one, with the tag of its version.`,
    tag: 'Records',
    path: `/ingest/v1/${resource.kind}/:id`,
    scope: 'ingest:read_record',
    problems: { 404: { description: `There is no such ${resource.noun}.` } },
    resource,
    view: { name: `Stored${nameOf(resource)}`, schema: resource.record },
  }),
)

/** `fiat_account` → `FiatAccount`. */
function nameOf({ table }: Resource): string {
  return table.replace(/(^|_)([a-z])/g, (_match, _underscore, letter) => letter.toUpperCase())
}
