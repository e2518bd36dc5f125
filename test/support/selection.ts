import type { Selection } from '../../src/store/records.ts'

/**
 * The newest hundred, unfiltered: what a list answers to somebody who asks for nothing in
 * particular.
 */
export const firstPage: Selection = {
  anyOf: [],
  from: undefined,
  before: undefined,
  includeDeleted: false,
  order: 'DESC',
  after: undefined,
  limit: 100,
}
