import { Type } from 'typebox'
import { described, enumOf, type Field, numberOf } from './fields.ts'
import { contractLimits } from './limits.ts'
import { about } from './members.ts'

/** The parameters of every list. `orderBy` is the one value of `order_by`. */
export const pagingParameters = (orderBy: 'CREATED_AT' | undefined) =>
  ({
    limit: pageSize,
    order: described(enumOf(['DESC', 'ASC'], 'DESC'), 'Newest first (DESC), or oldest first.'),
    ...(orderBy !== undefined && {
      order_by: described(enumOf([orderBy], orderBy), 'The time that sorts the list.'),
    }),
    page_cursor: pageCursor,
  }) as const

/** Why a cursor that was right once may be refused. */
export const cursorGone = {
  description: 'What the cursor comes after was lost in a recovery; read from the first page.',
}

export const pageCursor: Field<string> = {
  schema: Type.String(),
  description: 'The `next_page_cursor` of the page before; empty for the first page.',
  // Opening the cursor judges it, since it is sealed to the caller and the filters too.
  read: (raw) => ({ value: raw }),
}

export const pageSize = described(
  numberOf(
    Type.Integer({
      format: 'int32',
      minimum: 1,
      maximum: contractLimits.pageSizeMax,
      default: contractLimits.pageSizeDefault,
      reason: `must be between 1 and ${contractLimits.pageSizeMax}`,
    }),
  ),
  'How many records a page has at most.',
)

/** The member of an answer that has pages. */
export const nextPageCursor = {
  next_page_cursor: Type.Optional(
    about('The `page_cursor` of the next page. Absent on the last page.', Type.String()),
  ),
} as const
