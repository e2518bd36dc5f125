import { Type } from 'typebox'
import { described, enumOf, text } from '../../fields.ts'
import { about, component, enumMember, timestampMember } from '../../members.ts'
import { type Operation, operation, type PastList, pastList } from '../../operation.ts'
import { cursorGone, nextPageCursor, pageCursor, pageSize } from '../../paging.ts'
import { asOf, pastUnknownText } from '../../past-instant.ts'
import type { Resource } from '../../resource.ts'
import { resources } from '../../resources/catalogue.ts'
import { lists } from '../index.ts'
import { accessReason, nameOf, pluralOf } from './stored-records.ts'

/** What a page of a list is read for. */
export const purpose = described(
  enumOf(['look_up', 'export'], 'look_up'),
  'An export requires the scope ingest:export too; the log records each page that a person takes.',
)

export const origin = component(
  'VersionOrigin',
  'Who stored a version.',
  Type.Object({
    command: Type.Optional(
      about(
        'How it was stored; `take-over` where another record took a value from this one.',
        enumMember(['import', 'PUT', 'POST', 'DELETE', 'take-over']),
      ),
    ),
    client_id: Type.Optional(about('The client, over HTTP.', Type.String())),
    file: Type.Optional(about('The imported file, without its folder.', Type.String())),
    user: Type.Optional(about('The user who ran the import.', Type.String())),
    line: Type.Optional(about('The line of the file or stream.', Type.Integer({ minimum: 1 }))),
  }),
)

const historyView = described(
  enumOf(['full', 'customer'], 'full'),
  'The records in full where the caller may see them, which the audit log keeps, or masked as in the customer’s list.',
)

export const historyOf = (resource: Resource): string => `get${nameOf(resource)}History`

/** Every version of a record, oldest first. */
export const getRecordHistories: readonly Operation[] = resources.map((resource) =>
  operation({
    id: historyOf(resource),
    title: `List the versions of a ${resource.noun}`,
    summary: `Returns the versions of a ${resource.noun}, oldest first, each with its origin and the members that it changed. Without the scope ingest:read_record the records are masked as in the customer’s list.`,
    tag: 'History',
    method: 'GET',
    path: `/ingest/v1/${resource.kind}/:id/history`,
    scope: 'ingest:read_history',
    headers: accessReason(resource),
    query: {
      limit: pageSize,
      page_cursor: pageCursor,
      customer_id: described(
        text,
        'Whose record it was, where another customer’s record has the id now.',
      ),
      ...(resource.maskedRecord !== undefined && { view: historyView }),
    },
    answers: {
      404: { description: `There is no such ${resource.noun}.` },
      410: cursorGone,
    },
    view: {
      name: `${nameOf(resource)}History`,
      schema: Type.Object(
        {
          kept_since: about(
            'From when on the customer’s records of this kind are known. What was before is unknown, and is not the same as nothing.',
            timestampMember,
          ),
          versions: about(
            'The versions, oldest first.',
            Type.Array(
              Type.Object({
                stored_at: about('From when the version was stored.', timestampMember),
                replaced_at: Type.Optional(
                  about(
                    'When the next one replaced it; absent for the current one.',
                    timestampMember,
                  ),
                ),
                withdrawn: Type.Optional(
                  about(
                    'True where the record was withdrawn, from `stored_at` on; absent otherwise.',
                    Type.Literal(true),
                  ),
                ),
                origin,
                changed: about(
                  'The members that differ from the version before; empty for the first.',
                  Type.Array(Type.String()),
                ),
                record: about(
                  'The record as import accepts it, or masked.',
                  resource.maskedRecord ?? resource.record,
                ),
              }),
            ),
          ),
          ...nextPageCursor,
        },
        { description: `The versions of a ${resource.noun}.` },
      ),
    },
  }),
)

/** Each list of a customer, at an instant. */
export const listPastRecords: readonly PastList[] = lists.map((list) =>
  pastList({
    id: `listPast${list.id.replace(/^list/, '')}`,
    title: `List the ${pluralOf(list.view.resource)} of a customer at an instant`,
    summary: `${list.summary.replace('of the caller', 'of a customer')} As the customer saw the list at \`as_of\`, or with every record in full.`,
    tag: 'History',
    path: `/ingest/v1/customers/:customer_id/${list.view.resource.kind}`,
    scope: 'ingest:read_history',
    query: {
      as_of: asOf,
      view: described(
        enumOf(['customer', 'full'], 'customer'),
        'The records as the customer sees them in the list, or in full; this requires the scope ingest:read_record too.',
      ),
      purpose,
    },
    answers: {
      404: { description: 'The client is bound to another customer.' },
      410: { description: pastUnknownText },
    },
    headers: accessReason(list.view.resource),
    list,
  }),
)
