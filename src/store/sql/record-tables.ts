import { fullTable } from '../../contract/resource.ts'
import { resources } from '../../resources/catalogue.ts'

/** The tables that hold stored records of any kind. */
export const recordTables: readonly string[] = resources.flatMap((resource) =>
  resource.mask === undefined ? [resource.table] : [resource.table, fullTable(resource)],
)
