import type { Selection } from '../../src/store/records.ts'

/** The first page of a list without parameters. */
export const firstPage: Selection = {
  anyOf: [],
  from: undefined,
  before: undefined,
  includeDeleted: false,
  order: 'DESC',
  after: undefined,
  limit: 100,
}
