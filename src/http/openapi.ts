import { type TSchema, Type } from 'typebox'
import type { ArrayField, Field } from '../contract/fields.ts'
import type { GetOperation, ListOperation, Operation } from '../contract/operation.ts'
import { readScopes } from '../contract/scopes.ts'
import { limits } from '../platform/limits.ts'

/** OpenAPI 3.1 of the operations, from the very schemas that validate. `version` is the program's. */
export function openApiDocument(
  operations: readonly Operation[],
  version: string,
  publicUrl: string,
): object {
  const views = new Map(operations.map(({ view }) => [view.name, view.schema]))
  return {
    openapi: '3.1.0',
    info: {
      title: 'Bursar',
      version,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      description:
        'Fiat accounts, deposit instructions, crypto deposit addresses, statements and issuer quote executions of one customer. Amounts are decimal strings; times are RFC 3339 in UTC. Within `/v2` change is additive only.',
    },
    servers: [{ url: publicUrl }],
    tags: [...new Set(operations.map(({ tag }) => tag))].map((name) => ({ name })),
    paths: Object.fromEntries(
      operations.map((operation) => [
        operation.path.replaceAll(/:([a-z]+)/g, '{$1}'),
        { get: operationObject(operation) },
      ]),
    ),
    components: {
      schemas: {
        ...Object.fromEntries([...views].map(([name, schema]) => [name, plainSchema(schema)])),
        Problem: plainSchema(problemSchema),
      },
      securitySchemes: { oauth2: securityScheme(operations, publicUrl) },
    },
  }
}

function securityScheme(operations: readonly Operation[], publicUrl: string): object {
  const used = new Set<string>([...readScopes, ...operations.map(({ scope }) => scope)])
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

const scopeMeaning = (scope: string): string =>
  scope.split(':').at(-1)?.replaceAll('_', ' ') ?? scope

function operationObject(operation: Operation): object {
  return {
    operationId: operation.id,
    summary: titleOf(operation.id),
    description: operation.summary,
    tags: [operation.tag],
    security: [{ oauth2: [operation.scope] }],
    parameters: operation.kind === 'get' ? getParameters(operation) : listParameters(operation),
    responses: responses(operation),
  }
}

/** `listFiatAccounts` → `List Fiat Accounts`, the operation's name in the contract. */
const titleOf = (id: string): string =>
  id.replace(/[A-Z]/g, (letter) => ` ${letter}`).replace(/^./, (letter) => letter.toUpperCase())

function getParameters(operation: GetOperation): object[] {
  return [
    {
      name: 'id',
      in: 'path',
      required: true,
      schema: { type: 'string', format: 'uuid' },
    },
    ...Object.entries(operation.query).map(([name, field]) => queryParameter(name, field, false)),
  ]
}

function listParameters(operation: ListOperation): object[] {
  return Object.entries(operation.query).map(([name, field]) =>
    queryParameter(name, field, operation.required.includes(name)),
  )
}

function queryParameter(
  name: string,
  field: Field<unknown> | ArrayField<string>,
  required: boolean,
): object {
  const schema =
    'each' in field
      ? { type: 'array', maxItems: limits.filterEntriesMax, items: plainSchema(field.each.schema) }
      : plainSchema(field.schema)
  return {
    name,
    in: 'query',
    required,
    ...(field.description !== undefined && { description: field.description }),
    ...('each' in field && { style: 'form', explode: true }),
    schema,
  }
}

function responses(operation: Operation): object {
  const reference = { $ref: `#/components/schemas/${operation.view.name}` }
  const isList = operation.kind === 'list'
  const body = isList
    ? {
        type: 'object',
        required: [operation.envelope],
        properties: {
          [operation.envelope]: { type: 'array', items: reference },
          next_page_cursor: {
            type: 'string',
            description: 'Absent on the last page.',
          },
        },
      }
    : reference
  const problems = {
    400: 'A parameter is not of its form; `meta.errors` names each.',
    401: 'The access token is missing, invalid, expired or revoked.',
    403: `The token lacks the scope ${operation.scope}.`,
    ...(!isList && { 404: 'Nothing with this id is the caller’s.' }),
    429: 'Too many requests; wait as Retry-After says.',
    431: 'The request line and headers are too long; split long filters over several requests.',
    500: 'Something broke on our side.',
    503: 'Not able to answer now; try again as Retry-After says.',
  }
  return {
    200: {
      description: 'OK',
      headers: { 'X-Request-Id': { schema: { type: 'string' } } },
      content: { 'application/json': { schema: body } },
    },
    ...(isList && { 304: { description: 'The page is the one that If-None-Match names.' } }),
    ...Object.fromEntries(
      Object.entries(problems).map(([status, description]) => [
        status,
        {
          description,
          content: {
            'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } },
          },
        },
      ]),
    ),
  }
}

const problemSchema = Type.Object({
  type: Type.String({ description: '`about:blank`, or the path of the problem’s own page.' }),
  title: Type.String(),
  status: Type.Integer(),
  detail: Type.String({ description: 'What to change.' }),
  instance: Type.String(),
  request_id: Type.String({ description: 'The same as in the X-Request-Id header.' }),
  meta: Type.Optional(Type.Object({}, { additionalProperties: true })),
})

/**
 * The schema as a document shows it: without the reasons of our faults, and open to members that a later version adds,
 * as change within `/v2` is additive. Two spellings are made plainer for the generators of clients: an enum says that
 * it is of strings, and a map says so by `additionalProperties`, where they look for it.
 */
function plainSchema(schema: TSchema): unknown {
  return JSON.parse(
    JSON.stringify(schema, (key, value) => {
      if (key === 'reason' || (key === 'additionalProperties' && value === false)) return undefined
      if (typeof value !== 'object' || value === null) return value
      if (Array.isArray(value.enum)) return { type: 'string', ...value }
      if (value.patternProperties === undefined) return value
      const { patternProperties, ...map } = value
      const [values] = Object.values(patternProperties)
      return { ...map, additionalProperties: values }
    }),
  )
}
