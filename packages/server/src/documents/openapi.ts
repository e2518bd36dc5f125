import { version } from '@bursar/base'
import {
  type ArrayField,
  type Body,
  capitalised,
  type Field,
  ingestOperations,
  type Operation,
  operations,
  operatorScopes,
  type RawBody,
  readScopes,
  sandboxOperations,
} from '@bursar/contract'
import type { TSchema } from 'typebox'
import { type AnswerExamples, examplesOf, openAnswerExamples } from './openapi-examples.ts'
import { headerComponents, responsesOf } from './openapi-responses.ts'
import { addComponent, bodySchema, type Components, plainSchema } from './openapi-schemas.ts'
import { customerProblem, operatorProblem } from './problem-schemas.ts'

/** The operations that share a document, and what it says of them. */
export type DocumentedApi = {
  /** As the recorded examples call it. */
  readonly name: string
  /** Where the document is served. */
  readonly path: string
  readonly operations: readonly Operation[]
  readonly title: string
  readonly description: string
  /** Scopes that the document lists even where none of its operations needs them. */
  readonly scopes: readonly string[]
  readonly problem: TSchema
}

export const customerApi: DocumentedApi = {
  name: 'customers',
  path: '/openapi.json',
  operations,
  title: 'Bursar',
  description:
    'Fiat accounts, deposit instructions, crypto deposit addresses, statements, issuer quote executions and guaranteed withdrawal fees of one customer. Amounts are decimal strings; times are RFC 3339 in UTC. Within `/v2` change is additive only.',
  scopes: readScopes,
  problem: customerProblem,
}

/** Apart from the customers' document, so that no customer generates these operations. */
export const ingestApi: DocumentedApi = {
  name: 'ingest',
  path: '/ingest/v1/openapi.json',
  operations: ingestOperations,
  title: 'Bursar ingest',
  description:
    'What the operator’s own systems do: store records, read what is and what was stored, search, and consume fees. Their clients are made with `client create --operator`. No customer’s client may have these scopes.',
  scopes: operatorScopes,
  problem: operatorProblem,
}

/** Only a sandbox has these calls, and serves this document. */
export const sandboxApi: DocumentedApi = {
  name: 'sandbox',
  path: '/sandbox/openapi.json',
  operations: sandboxOperations,
  title: 'Bursar sandbox',
  description:
    'How tests control a sandbox: customers of their own, records, snapshots, faults, the clock, and the requests that were served. These calls take no token.',
  scopes: [],
  problem: operatorProblem,
}

/** Renders OpenAPI 3.1 from the schemas that validate requests. */
export function openApiDocument(api: DocumentedApi, publicUrl: string): object {
  const { name, title, description, operations, scopes, problem } = api
  const components: Components = new Map()
  const examples = openAnswerExamples(name)
  const paths: Record<string, Record<string, object>> = {}
  for (const operation of operations) {
    const path = operation.path.replaceAll(/:([a-z_]+)/g, '{$1}')
    paths[path] = {
      ...paths[path],
      [operation.method.toLowerCase()]: operationObject(operation, problem, examples, components),
    }
  }
  const hasScopes = operations.some(({ scope }) => scope !== undefined)
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
      examples: examples.shared,
      ...(hasScopes && {
        securitySchemes: { oauth2: securityScheme(operations, scopes, publicUrl) },
      }),
    },
  }
}

function securityScheme(
  operations: readonly Operation[],
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
const scopesOf = ({ scope }: Operation): string[] =>
  scope === null || scope === undefined ? [] : [scope]

const scopeMeaning = (scope: string): string =>
  scope.split(':').at(-1)?.replaceAll('_', ' ') ?? scope

function operationObject(
  operation: Operation,
  problem: TSchema,
  examples: AnswerExamples,
  components: Components,
): object {
  const { id, title, summary, tag, scope, body } = operation
  return {
    operationId: id,
    summary: title,
    description: summary,
    tags: [tag],
    security: scope === undefined ? [] : [{ oauth2: scopesOf(operation) }],
    parameters: parametersOf(operation, components),
    ...(body !== undefined && { requestBody: requestBody(id, body, components) }),
    responses: responsesOf(operation, examples, problem, components),
  }
}

function requestBody(id: string, body: Body | RawBody, components: Components): object {
  const { bodies } = examplesOf(id)
  const examples = Object.keys(bodies).length === 0 ? {} : { examples: bodies }
  if ('members' in body) {
    const schema = bodySchema(`${capitalised(id)}Request`, body, components)
    return {
      required: body.optional !== true,
      content: { 'application/json': { schema, ...examples } },
    }
  }
  if (body.view === undefined) {
    return {
      required: true,
      description: 'One record a line, as `bursar import` reads them.',
      content: { 'application/x-ndjson': { schema: { type: 'string' }, ...examples } },
    }
  }
  const { name, schema } = body.view
  const shown = addComponent(name, plainSchema(schema, components), components)
  return { required: true, content: { 'application/json': { schema: shown, ...examples } } }
}

function parametersOf(operation: Operation, components: Components): object[] {
  const { id, parameters, query, required, headers } = operation
  const examples = examplesOf(id).parameters
  const shown = (name: string, field: AnyField, place: 'path' | 'query') => ({
    ...parameterOf(name, field, place === 'path' || required.includes(name), components),
    in: place,
    ...(name in examples && { example: examples[name] }),
  })
  return [
    ...Object.entries(parameters).map(([name, field]) => shown(name, field, 'path')),
    ...Object.entries(query).map(([name, field]) => shown(name, field, 'query')),
    ...Object.entries(headers).map(([name, description]) => ({
      name,
      in: 'header',
      required: false,
      description,
      schema: { type: 'string' },
    })),
  ]
}

type AnyField = Field<unknown> | ArrayField<string>

function parameterOf(
  name: string,
  field: AnyField,
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
