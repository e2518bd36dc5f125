import type { Selection } from '@bursar/records'

/** The default page of a list: the newest hundred records, unfiltered. */
export const firstPage: Selection = {
  anyOf: [],
  from: undefined,
  before: undefined,
  includeDeleted: false,
  order: 'DESC',
  after: undefined,
  limit: 100,
}
