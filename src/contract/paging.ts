import { Type } from 'typebox'
import { limits } from '../platform/limits.ts'
import { described, enumOf, type Field } from './fields.ts'

/** The member that pages are sorted by, then by id. `named` is the one value that `order_by` takes. */
export type ListOrder = {
  readonly by: 'created_at' | 'period_start'
  readonly first: 'newest'
  readonly named?: 'CREATED_AT'
}

/** The parameters that every list takes beside its own. */
export const pagingParameters = ({ named }: ListOrder) =>
  ({
    limit: pageSize,
    order: described(enumOf(['DESC', 'ASC'], 'DESC'), 'Newest first (DESC), or oldest first.'),
    ...(named !== undefined && { order_by: enumOf([named], named) }),
    page_cursor: pageCursor,
  }) as const

const pageCursor: Field<string> = {
  schema: Type.String(),
  description: 'The `next_page_cursor` of the page before; empty for the first page.',
  // Whether it is a cursor is decided when it is opened, as it is sealed to more than its text.
  read: (raw) => ({ value: raw }),
}

const pageSize: Field<number> = {
  description: 'How many records a page has at most.',
  schema: Type.Integer({
    format: 'int32',
    minimum: 1,
    maximum: limits.pageSizeMax,
    default: limits.pageSizeDefault,
  }),
  read: (raw) => {
    const value = /^[0-9]{1,9}$/.test(raw) ? Number(raw) : 0
    return value >= 1 && value <= limits.pageSizeMax
      ? { value }
      : { reason: `must be between 1 and ${limits.pageSizeMax}` }
  },
}
