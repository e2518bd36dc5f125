import { Type } from 'typebox'
import { described, enumOf, uuid } from '../../fields.ts'
import { importMeanings, importStates } from '../../import-states.ts'
import {
  about,
  asComponent,
  component,
  enumMember,
  timestampMember,
  uuidMember,
} from '../../members.ts'
import { operation } from '../../operation.ts'
import { nextPageCursor, pageCursor, pageSize } from '../../paging.ts'
import { recordKinds } from '../../resources/catalogue.ts'

const meanings = Object.entries(importMeanings)
  .map(([name, meaning]) => `\`${name}\`: ${meaning}`)
  .join(' ')

const count = (description: string) =>
  Type.Optional(about(description, Type.Integer({ minimum: 0 })))

const time = (description: string) => Type.Optional(about(description, timestampMember))

const text = (description: string) => Type.Optional(about(description, Type.String()))

const importView = Type.Object(
  {
    id: about('Identifier of the import. Later imports have larger ones.', uuidMember),
    kind: about('The kind of its records.', enumMember(recordKinds)),
    command: about('A stream over HTTP, or the command.', enumMember(['POST', 'import'])),
    client_id: text('The client that sends the stream.'),
    user: text('The user of the operating system who runs the command.'),
    sudo_user: text('The user who ran sudo.'),
    file: text('The file without its folder; `-` is standard input. Of several files, the first.'),
    files: Type.Optional(about('How many files it has.', Type.Integer({ minimum: 1 }))),
    customer_id: text('The one customer whose records it may store; absent for every customer.'),
    role: text('The role of the database that the command had.'),
    state: about(
      `What became of it. ${meanings}`,
      component('ImportState', 'What became of an import.', enumMember(importStates)),
    ),
    records: count('Records in all. Counts of records are there once it is stored.'),
    added: count('Records that are new.'),
    changed: count('Records that were replaced.'),
    unchanged: count('Records that were stored like this.'),
    rejected: count('Records with a fault that were left out.'),
    withdrawn: count('Records of other customers from which a value was taken.'),
    reason: text('Why it stored nothing, without any content of a record.'),
    started_at: about('When it began.', timestampMember),
    ended_at: time(
      'When it ended, or was found lost; absent while it runs. Its records have this `stored_at`.',
    ),
    cancel_requested_at: time('When somebody first asked it to end.'),
  },
  { description: 'An import: a stream of records over HTTP, or files by the command.' },
)

const importId = described(uuid, 'The import’s identifier.')

const noneText =
  'There is no such import. To a client that is bound to a customer, only imports of clients of that customer exist.'

/** What runs and what ran, on every process of the store. */
export const listImports = operation({
  id: 'listImports',
  title: 'List imports',
  summary:
    'Returns the imports that run and those that ran, the newest first: streams of records over HTTP, and files by the command. A client that is bound to a customer sees those of clients of that customer, and no files.',
  tag: 'Imports',
  method: 'GET',
  path: '/ingest/v1/imports',
  scope: 'ingest:read_imports',
  query: {
    state: described(enumOf(importStates), 'Only imports in this state.'),
    kind: described(enumOf(recordKinds), 'Only imports of this kind of record.'),
    limit: pageSize,
    page_cursor: pageCursor,
  },
  view: {
    name: 'ImportsPage',
    schema: Type.Object(
      {
        imports: about(
          'The imports, the newest first.',
          Type.Array(asComponent({ name: 'Import', schema: importView })),
        ),
        ...nextPageCursor,
      },
      { description: 'A page of imports.' },
    ),
  },
})

export const getImport = operation({
  id: 'getImport',
  title: 'Read an import',
  summary: 'Returns an import: what it does, or how it ended.',
  tag: 'Imports',
  method: 'GET',
  path: '/ingest/v1/imports/:id',
  scope: 'ingest:read_imports',
  parameters: { id: importId },
  answers: { 404: { description: noneText } },
  view: { name: 'Import', schema: importView },
})

export const cancelImport = operation({
  id: 'cancelImport',
  title: 'Cancel an import',
  summary:
    'Asks an import to end, in whichever process it runs. It ends within seconds and stores nothing, unless it has begun to merge: then it may still be stored. Its `state` tells.',
  tag: 'Imports',
  method: 'DELETE',
  path: '/ingest/v1/imports/:id',
  scope: 'ingest:cancel_import',
  parameters: { id: importId },
  answers: {
    202: { description: 'The import was asked to end. The request may be repeated.' },
    404: { description: noneText },
    409: { description: 'The import has ended; `meta.state` says how.' },
  },
  view: { name: 'Import', schema: importView },
})
