import { Type } from 'typebox'
import { described, text } from '../../contract/fields.ts'
import { about, enumMember, timestampMember } from '../../contract/members.ts'
import { operation } from '../../contract/operation.ts'
import { nextPageCursor, pageCursor } from '../../contract/paging.ts'
import { recordKinds } from '../../resources/catalogue.ts'

export const searchRecords = operation({
  id: 'searchRecords',
  title: 'Find records and fees',
  summary:
    'Finds records and fees of every customer by an identifier: an id, ref_id, memo, address, account, identity or profile id, fee id or withdrawal reference, each complete, or at least the first six characters of a memo.',
  tag: 'Search',
  method: 'GET',
  path: '/ingest/v1/search',
  scope: 'ingest:search',
  query: {
    q: described(text, 'What to find; compared as it is, and an id in either case.'),
    page_cursor: pageCursor,
  },
  required: ['q'],
  view: {
    name: 'SearchResult',
    schema: Type.Object(
      {
        hits: about(
          'At most 20 hits, each record once.',
          Type.Array(
            Type.Object({
              kind: about('The kind of the record, or fees.', enumMember([...recordKinds, 'fees'])),
              id: about('Its identifier.', Type.String({ format: 'uuid' })),
              customer_id: about('Whose it is.', Type.String()),
              at: about(
                'The time by which lists sort it; of a fee, when it was quoted.',
                timestampMember,
              ),
              matched: about('The member that matched.', Type.String()),
            }),
            { maxItems: 20 },
          ),
        ),
        ...nextPageCursor,
      },
      { description: 'What was found.' },
    ),
  },
})
