import { timePrefix } from '../../src/position.ts'
import type { ByTerm, InOrder } from '../../src/records/across.ts'

/** Pages after a place, of which the plans of both stores are looked at. */

const position = Buffer.concat([timePrefix(5n), Buffer.alloc(16)])

const after = { position, sort: '0015' }

export const aSelection: InOrder = {
  customerId: undefined,
  status: undefined,
  order: 'DESC',
  limit: 100,
  from: 1n,
  until: 9n,
  after,
}

export const aTermSelection: ByTerm = {
  customerId: undefined,
  status: undefined,
  order: 'DESC',
  limit: 100,
  term: (status) => `short ${status}`,
  start: 'USDG ',
  now: 9n,
  after,
}
