import assert from 'node:assert/strict'
import { type TSchema, Type } from 'typebox'
import { described, type Field, flag } from '../../fields.ts'
import { contractLimits } from '../../limits.ts'
import { about, enumMember } from '../../members.ts'
import { type Operation, operation } from '../../operation.ts'
import { asOf, pastUnknownText } from '../../past-instant.ts'
import type { Resource } from '../../resource.ts'
import { type RecordKind, resources } from '../../resources/catalogue.ts'
import { type OperatorScope, operatorScopes } from '../../scopes.ts'

/** `fiat_account` → `FiatAccount`. */
export function nameOf({ table }: Pick<Resource, 'table'>): string {
  return table.replace(/(^|_)([a-z])/g, (_match, _underscore, letter) => letter.toUpperCase())
}

/** The ids of the calls of a kind. */
export const callsOf = (resource: Resource) => ({
  get: `getStored${nameOf(resource)}`,
  put: `put${nameOf(resource)}`,
  delete: `delete${nameOf(resource)}`,
  post: `post${nameOf(resource)}Records`,
})

/** The scope to store records of a kind: `fiat-accounts` → `ingest:write_fiat_accounts`. */
export function writeScope(kind: RecordKind): OperatorScope {
  const name = `ingest:write_${kind.replaceAll('-', '_')}`
  const scope = operatorScopes.find((each) => each === name)
  assert(scope !== undefined, `packages/contract/src/scopes.ts has no ${name}`)
  return scope
}

const allowOlder: Field<boolean> = described(flag, 'Lets a record replace one that is newer.')

const takeOver: Field<boolean> = described(
  flag,
  'Takes ids, addresses and memos from the records of other customers, and withdraws those records. A client that is bound to a customer may not.',
)

const conflict =
  'The record conflicts with what is stored. `meta.errors` names member, code and reason.'

const unmet = 'The stored version is not the one that the condition names.'

const tagged = { headers: ['ETag'] } as const

const ifMatch = { 'If-Match': 'The entity tag of the version that the request replaces.' }

/** The header of operations that show what lists mask. */
export const accessReason = ({ mask }: Pick<Resource, 'mask'>): Readonly<Record<string, string>> =>
  mask === undefined
    ? {}
    : { 'Access-Reason': 'Why a person needs the full view, percent-encoded.' }

/** `fiat accounts`. */
export const pluralOf = ({ kind }: Pick<Resource, 'kind'>): string => kind.replaceAll('-', ' ')

/** The record of a PUT. The path has its id, and a client of one customer need not name that. */
function recordToStore({ record }: Resource): TSchema {
  const all: readonly string[] = record.required ?? []
  const required = all.filter((name) => name !== 'id' && name !== 'customer_id')
  return { ...record, required }
}

type OfKind = (resource: (typeof resources)[number]) => Operation

const ofEachKind = (declare: OfKind): readonly Operation[] => resources.map(declare)

/** One operation for each kind of record, as the operator's systems sent it. */
export const getStoredRecords = ofEachKind((resource) =>
  operation({
    id: callsOf(resource).get,
    title: `Read a ${resource.noun} as it is stored`,
    summary: `Returns a stored ${resource.noun} of any customer as import accepts it, also a deleted one, with the tag of its version. With \`as_of\`, the version of that time; this requires the scope ingest:read_history too.`,
    tag: 'Records',
    method: 'GET',
    path: `/ingest/v1/${resource.kind}/:id`,
    scope: 'ingest:read_record',
    query: { as_of: asOf },
    headers: accessReason(resource),
    answers: {
      200: tagged,
      304: { description: 'The version is the one that If-None-Match names.', ...tagged },
      404: { description: `There is no such ${resource.noun}.` },
      410: { description: pastUnknownText },
    },
    view: { name: `Stored${nameOf(resource)}`, schema: resource.record },
  }),
)

/** Stores one record whole, by the rules of an import. */
export const putRecords = ofEachKind((resource) =>
  operation({
    id: callsOf(resource).put,
    title: `Store a ${resource.noun}`,
    summary: `Stores a ${resource.noun} whole, by the rules of \`bursar import\`. The same record again changes nothing.`,
    tag: 'Records',
    method: 'PUT',
    path: `/ingest/v1/${resource.kind}/:id`,
    scope: writeScope(resource.kind),
    query: { allow_older: allowOlder, take_over: takeOver },
    headers: { ...ifMatch, 'If-None-Match': '`*`, if no version may be stored yet.' },
    body: {
      view: { name: `${nameOf(resource)}ToStore`, schema: recordToStore(resource) },
      bytesMax: contractLimits.recordBytesMax,
      tooLarge: 'The record has more than 1 MiB.',
    },
    answers: {
      200: tagged,
      201: { description: 'The record is new.', ...tagged },
      400: {
        description:
          'A parameter or the record has a fault. `meta.errors` names member, code and reason of each.',
      },
      409: { description: conflict },
      412: { description: unmet, ...tagged },
    },
    view: {
      name: 'PutRecord',
      schema: Type.Object(
        {
          outcome: about(
            'Whether the record is new, replaced another version, or was stored like this.',
            enumMember(['added', 'changed', 'unchanged']),
          ),
        },
        { description: 'What became of a record.' },
      ),
    },
  }),
)

const removal = ({ deletable, noun }: Resource): string =>
  deletable
    ? `Marks a ${noun} as deleted now, unless it is deleted already.`
    : `Withdraws a ${noun}, unless it is withdrawn already: no current answer has it, its versions stay, and what only one record may have is free again. A PUT of the record brings it back.`

/** Takes a record out of current answers. */
export const deleteRecords = ofEachKind((resource) =>
  operation({
    id: callsOf(resource).delete,
    title: `${resource.deletable ? 'Delete' : 'Withdraw'} a ${resource.noun}`,
    summary: removal(resource),
    tag: 'Records',
    method: 'DELETE',
    path: `/ingest/v1/${resource.kind}/:id`,
    scope: writeScope(resource.kind),
    headers: ifMatch,
    answers: {
      204: tagged,
      404: { description: `There is no such ${resource.noun}.` },
      412: { description: unmet, ...tagged },
    },
  }),
)

const count = (description: string) => about(description, Type.Integer({ minimum: 0 }))

/** Stores a stream of records in one transaction. */
export const postRecords = ofEachKind((resource) =>
  operation({
    id: callsOf(resource).post,
    title: `Store a stream of ${pluralOf(resource)}`,
    summary:
      'Stores a stream of records, one JSON object a line, in one transaction and by the rules of `bursar import`. One fault, and nothing changes.',
    tag: 'Records',
    method: 'POST',
    path: `/ingest/v1/${resource.kind}`,
    scope: writeScope(resource.kind),
    query: { allow_older: allowOlder, take_over: takeOver },
    headers: {
      'Idempotency-Key':
        'The same request with the same key gets the answer of the first again, for 24 hours.',
      'Content-Encoding': 'gzip, if the stream is compressed.',
    },
    body: {
      bytesMax: contractLimits.streamBytesMax,
      tooLarge: 'The stream has more bytes than a file of records may have.',
      isStream: true,
    },
    answers: {
      400: {
        description:
          'A parameter or a record has a fault. `meta.errors` names line, member, code and reason of the first 100, `meta.fault_count` counts those found. The stream is not read on after 100 faults; `meta.more` is true where there may be more.',
      },
      409: {
        description:
          'Records conflict with what is stored, and none has another fault; `meta.errors` names the first 100.',
      },
      408: { description: 'The stream sent too little in a minute.' },
      422: { description: 'The Idempotency-Key was sent with another request before.' },
    },
    view: {
      name: 'PostedRecords',
      schema: Type.Object(
        {
          records: count('Records of the stream.'),
          added: count('Records that are new.'),
          changed: count('Records that were replaced.'),
          unchanged: count('Records that were stored like this.'),
          withdrawn: count('Records of other customers from which a value was taken.'),
          sha256: about('Of the bytes that were sent, in hex.', Type.String()),
          warning_count: Type.Optional(
            count('Values that are stored and that somebody should look at; absent without one.'),
          ),
          warnings: Type.Optional(
            about(
              'The first 100 of them.',
              Type.Array(
                Type.Object({
                  line: count('The line of the record.'),
                  member: about('The path of the member.', Type.String()),
                  reason: about('What is odd about its value.', Type.String()),
                }),
              ),
            ),
          ),
        },
        { description: 'What became of a stream of records.' },
      ),
    },
  }),
)
