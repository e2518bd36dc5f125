import { Type } from 'typebox'
import { contractLimits } from '../../limits.ts'
import { about, asComponent } from '../../members.ts'
import { operation } from '../../operation.ts'
import { nextPageCursor, pageCursor, pageSize } from '../../paging.ts'
import { event, wait } from '../list-events.ts'

const change = {
  name: 'Change',
  schema: Type.Object(
    {
      customer_id: about('Whose record or fee it is.', Type.String()),
      ...event.schema.properties,
    },
    { description: 'An event of any customer.' },
  ),
}

/** The feed of warehouses and of the staff's systems. */
export const listChanges = operation({
  id: 'listChanges',
  title: 'List the changes of all customers',
  summary:
    'Returns the events of all customers, each once, those of a customer in their order. A client that is bound to a customer gets its events.',
  tag: 'History',
  method: 'GET',
  path: '/ingest/v1/changes',
  scope: 'ingest:read_history',
  query: {
    limit: pageSize,
    page_cursor: {
      ...pageCursor,
      description: 'A `next_page_cursor` or `resume_cursor`; empty for the first page.',
    },
    wait,
  },
  view: {
    name: 'ChangesPage',
    schema: Type.Object(
      {
        items: about(
          'The events; empty where there are no more.',
          Type.Array(asComponent(change), { maxItems: contractLimits.pageSizeMax }),
        ),
        ...nextPageCursor,
        resume_cursor: about(
          'The `page_cursor` that shows what comes after this page, now or later.',
          Type.String(),
        ),
      },
      { description: 'A page of changes.' },
    ),
  },
  answers: {
    410: { description: 'Changes after the cursor are gone; export the records, then read again.' },
  },
})
