import { Type } from 'typebox'
import { about, enumMember, timestampMember } from '../../members.ts'
import { type Operation, operation } from '../../operation.ts'
import { nextPageCursor, pageCursor, pageSize } from '../../paging.ts'
import type { Resource } from '../../resource.ts'
import { resources } from '../../resources/catalogue.ts'
import { nameOf } from './stored-records.ts'

/** The kinds of which lists show less than the record, so that a full view is worth an entry. */
export const maskedResources: readonly Resource[] = resources.filter(
  ({ mask }) => mask !== undefined,
)

export const readsOf = (resource: Resource): string => `get${nameOf(resource)}Reads`

const optionalText = (description: string) => Type.Optional(about(description, Type.String()))

const read = Type.Object({
  at: about('When the log got its entry, before the answer was sent.', timestampMember),
  action: about(
    '`view`: the record was shown in full. `export`: it went to a file.',
    enumMember(['view', 'export']),
  ),
  shown: about(
    '`record`: this record by its id. `list`: a page in full of the customer’s records of its kind, which may have had it.',
    enumMember(['record', 'list']),
  ),
  rows: Type.Optional(
    about('How many records the page had, or versions the history.', Type.Integer({ minimum: 0 })),
  ),
  client_id: optionalText('The client that read it.'),
  issuer: optionalText('The issuer of the person who read it.'),
  subject: optionalText('The person, by the issuer.'),
  user: optionalText('The user of the operating system, by a command.'),
  reason: optionalText('What the person has stated.'),
})

/** Who saw a record in full. */
export const getRecordReads: readonly Operation[] = maskedResources.map((resource) =>
  operation({
    id: readsOf(resource),
    title: `List who saw a ${resource.noun} in full`,
    summary: `Returns who saw a ${resource.noun} in full, newest first, as the audit log has it. Reads by the customer’s own clients are not among them, nor an export of every customer by the command.`,
    tag: 'History',
    method: 'GET',
    path: `/ingest/v1/${resource.kind}/:id/reads`,
    scope: 'ingest:read_audit',
    query: { limit: pageSize, page_cursor: pageCursor },
    answers: { 404: { description: `There is no such ${resource.noun}.` } },
    view: {
      name: `${nameOf(resource)}Reads`,
      schema: Type.Object(
        { reads: about('The reads, newest first.', Type.Array(read)), ...nextPageCursor },
        { description: `Who saw a ${resource.noun} in full.` },
      ),
    },
  }),
)
