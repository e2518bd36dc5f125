import { Type } from 'typebox'
import { described, text } from '../../fields.ts'
import { about, asComponent, enumMember, timestampMember } from '../../members.ts'
import { operation } from '../../operation.ts'
import { nextPageCursor, pageCursor } from '../../paging.ts'
import { recordKinds } from '../../resources/catalogue.ts'
import { lists } from '../index.ts'
import { customerId, customerName } from './list-customers.ts'

export const searchRecords = operation({
  id: 'searchRecords',
  title: 'Find records, fees and customers',
  summary:
    'Finds records and fees of every customer by an identifier: an id, ref_id, memo, address, account, identity or profile id, fee id or withdrawal reference, each complete, or at least the first six characters of a memo, the last four of a longer account number, whole words of the name of a bank, or those of an owner for callers with `ingest:read_record`. It also finds customers by the start of their id or of a word of their name.',
  tag: 'Search',
  method: 'GET',
  path: '/ingest/v1/search',
  scope: 'ingest:search',
  query: {
    q: described(
      text,
      'What to find: an identifier as it is, an id in either case, words in any case and without accents, or the start of a customer’s id or name.',
    ),
    page_cursor: pageCursor,
  },
  required: ['q'],
  view: {
    name: 'SearchResult',
    schema: Type.Object(
      {
        customers: Type.Optional(
          about(
            'On the first page, at most 20 customers whose id or a word of whose name starts with it.',
            Type.Array(Type.Object({ id: customerId, name: Type.Optional(customerName) }), {
              maxItems: 20,
            }),
          ),
        ),
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
              record: Type.Optional(
                about(
                  'The record as its customer’s list shows it; none of a fee.',
                  Type.Union(lists.map(({ view }) => asComponent(view))),
                ),
              ),
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
