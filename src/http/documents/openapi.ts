import type { TSchema } from 'typebox'
import type { ArrayField, Field } from '../../contract/fields.ts'
import type { IngestCall, IngestOperation } from '../../contract/ingest-operation.ts'
import type { Body, Operation } from '../../contract/operation.ts'
import type { SandboxOperation } from '../../contract/sandbox-operation.ts'
import { operatorScopes, readScopes } from '../../contract/scopes.ts'
import { examplesOf } from './openapi-examples.ts'
import { headerComponents, responsesOf } from './openapi-responses.ts'
import {
  addComponent,
  bodySchema,
  type Components,
  capitalised,
  plainSchema,
} from './openapi-schemas.ts'
import { customerProblem, operatorProblem } from './problem-schemas.ts'

type Documented = Operation | IngestOperation | SandboxOperation

type About = {
  readonly title: string
  readonly description: string
  /** Scopes that the document lists even where none of its operations needs them. */
  readonly scopes: readonly string[]
  readonly problem: TSchema
}

const customerApi: About = {
  title: 'Bursar',
  description:
    'Fiat accounts, deposit instructions, crypto deposit addresses, statements, issuer quote executions and guaranteed withdrawal fees of one customer. Amounts are decimal strings; times are RFC 3339 in UTC. Within `/v2` change is additive only.',
  scopes: readScopes,
  problem: customerProblem,
}

/** Apart from the customers' document, so that no customer generates these operations. */
export const ingestApi: About = {
  title: 'Bursar ingest',
  description:
    'What the operator’s own systems do: store records, read what is and what was stored, search, and consume fees. Their clients are made with `client create --operator`. No customer’s client may have these scopes.',
  scopes: operatorScopes,
  problem: operatorProblem,
}

/** Only a sandbox has these calls, and serves this document. */
export const sandboxApi: About = {
  title: 'Bursar sandbox',
  description:
    'How tests control a sandbox: customers of their own, records, snapshots, faults, the clock, and the requests that were served. These calls take no token.',
  scopes: [],
  problem: operatorProblem,
}

/** Renders OpenAPI 3.1 from the schemas that validate requests. `version` is the program's. */
export function openApiDocument(
  operations: readonly Documented[],
  version: string,
  publicUrl: string,
  { title, description, scopes, problem }: About = customerApi,
): object {
  const components: Components = new Map()
  const paths: Record<string, Record<string, object>> = {}
  for (const operation of operations) {
    const path = operation.path.replaceAll(/:([a-z_]+)/g, '{$1}')
    paths[path] = {
      ...paths[path],
      [operation.method.toLowerCase()]: operationObject(operation, problem, components),
    }
  }
  const hasScopes = operations.some((operation) => 'scope' in operation)
  return {
    openapi: '3.1.0',
    info: {
      title,
      version,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      description,
    },
    servers: [{ url: publicUrl }],
    tags: [...new Set(operations.map(({ tag }) => tag))].map((name) => ({ name })),
    paths,
    components: {
      schemas: Object.fromEntries(
        [...components].toSorted(([one], [other]) => (one < other ? -1 : 1)),
      ),
      headers: headerComponents(),
      ...(hasScopes && {
        securitySchemes: { oauth2: securityScheme(operations, scopes, publicUrl) },
      }),
    },
  }
}

function securityScheme(
  operations: readonly Documented[],
  scopes: readonly string[],
  publicUrl: string,
): object {
  const used = new Set<string>([...scopes, ...operations.flatMap(scopesOf)])
  return {
    type: 'oauth2',
    flows: {
      clientCredentials: {
        tokenUrl: `${publicUrl}/oauth2/token`,
        scopes: Object.fromEntries([...used].map((scope) => [scope, scopeMeaning(scope)])),
      },
    },
  }
}

/** The scope that an operation needs; none where the operator's every client may call it. */
const scopesOf = (operation: Documented): string[] =>
  'scope' in operation && operation.scope !== null ? [operation.scope] : []

const scopeMeaning = (scope: string): string =>
  scope.split(':').at(-1)?.replaceAll('_', ' ') ?? scope

function operationObject(operation: Documented, problem: TSchema, components: Components): object {
  return {
    operationId: operation.id,
    summary: 'title' in operation ? operation.title : titleOf(operation.id),
    description: operation.summary,
    tags: [operation.tag],
    security: 'scope' in operation ? [{ oauth2: scopesOf(operation) }] : [],
    parameters: [...parametersOf(operation, components), ...conditionsOf(operation)],
    ...('body' in operation &&
      operation.body !== undefined && {
        requestBody: requestBody(operation, operation.body, components),
      }),
    responses: responsesOf(operation, problem, components),
  }
}

/** `listFiatAccounts` → `List Fiat Accounts`, the operation's name in the contract. */
const titleOf = (id: string): string => capitalised(id.replace(/[A-Z]/g, (letter) => ` ${letter}`))

function requestBody(
  { id, ...operation }: Documented,
  body: Body | 'ndjson' | RecordBody,
  components: Components,
): object {
  if (body === 'ndjson' || 'records' in body) {
    return {
      required: true,
      description: 'One record a line, as `bursar import` reads them.',
      content: { 'application/x-ndjson': { schema: { type: 'string' }, ...bodyExamples(id) } },
    }
  }
  if ('record' in body) {
    const { name, schema } = body.view
    const shown = addComponent(name, plainSchema(schema, components), components)
    return {
      required: true,
      content: { 'application/json': { schema: shown, ...bodyExamples(id) } },
    }
  }
  const schema = bodySchema(`${capitalised(id)}Request`, body, components)
  const required = !('bodyOptional' in operation && operation.bodyOptional === true)
  return { required, content: { 'application/json': { schema, ...bodyExamples(id) } } }
}

function bodyExamples(id: string): object {
  const { bodies } = examplesOf(id)
  return Object.keys(bodies).length === 0 ? {} : { examples: bodies }
}

type RecordBody = Exclude<NonNullable<IngestCall['body']>, Body>

function parametersOf(operation: Documented, components: Components): object[] {
  const { id, path, query, required } = operation
  const examples = examplesOf(id).parameters
  const exampleOf = (name: string): object => (name in examples ? { example: examples[name] } : {})
  const listed = operation.kind === 'past-list' ? operation.list.query : {}
  const inQuery = Object.entries({ ...query, ...listed }).map(([name, field]) => ({
    ...queryParameter(name, field, required.includes(name), components),
    ...exampleOf(name),
  }))
  if ('parameters' in operation) {
    const inPath = Object.entries(operation.parameters).map(([name, field]) => ({
      ...queryParameter(name, field, true, components),
      in: 'path',
    }))
    return [...inPath, ...inQuery]
  }
  return path.includes('/:id') ? [{ ...pathId, ...exampleOf('id') }, ...inQuery] : inQuery
}

/** The conditions and the key that a request may have in its headers. */
function conditionsOf(operation: Documented): object[] {
  const header = (name: string, description: string) => ({
    name,
    in: 'header',
    required: false,
    description,
    schema: { type: 'string' },
  })
  const reason = header('Access-Reason', 'Why a person needs the full view, percent-encoded.')
  if (operation.kind === 'past-list') {
    return operation.list.view.resource.mask === undefined ? [] : [reason]
  }
  if (operation.kind !== 'ingest') return []
  const { method, body, isTagged, showsInFull } = operation
  if (showsInFull === true) return [reason]
  if (body !== undefined && 'records' in body) {
    return [
      header(
        'Idempotency-Key',
        'The same request with the same key gets the answer of the first again, for 24 hours.',
      ),
      header('Content-Encoding', 'gzip, if the stream is compressed.'),
    ]
  }
  if (isTagged !== true || method === 'GET') return []
  return [
    header('If-Match', 'The entity tag of the version that the request replaces.'),
    ...(method === 'PUT' ? [header('If-None-Match', '`*`, if no version may be stored yet.')] : []),
  ]
}

const pathId = {
  name: 'id',
  in: 'path',
  required: true,
  description: 'The record’s identifier.',
  schema: { type: 'string', format: 'uuid' },
}

function queryParameter(
  name: string,
  field: Field<unknown> | ArrayField<string>,
  required: boolean,
  components: Components,
): object {
  const schema =
    'each' in field
      ? {
          type: 'array',
          maxItems: field.entriesMax,
          items: plainSchema(field.each.schema, components),
        }
      : plainSchema(field.schema, components)
  return {
    name,
    in: 'query',
    required,
    ...(field.description !== undefined && { description: field.description }),
    ...('each' in field && { style: 'form', explode: true }),
    schema,
  }
}
