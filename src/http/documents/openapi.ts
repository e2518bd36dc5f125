import { Type } from 'typebox'
import type { ArrayField, Field } from '../../contract/fields.ts'
import type { IngestOperation, Operation } from '../../contract/operation.ts'
import { faultCodes } from '../../contract/problem.ts'
import { readScopes } from '../../contract/scopes.ts'
import { plainSchema, requestBody } from './openapi-schemas.ts'

type Documented = Operation | IngestOperation

type About = {
  readonly title: string
  readonly description: string
  /** Scopes that the document lists even where none of its operations needs them. */
  readonly scopes: readonly string[]
}

const customerApi: About = {
  title: 'Bursar',
  description:
    'Fiat accounts, deposit instructions, crypto deposit addresses, statements, issuer quote executions and guaranteed withdrawal fees of one customer. Amounts are decimal strings; times are RFC 3339 in UTC. Within `/v2` change is additive only.',
  scopes: readScopes,
}

/** Apart from the customers' document, so that no customer generates these operations. */
export const ingestApi: About = {
  title: 'Bursar ingest',
  description:
    'What the operator’s own systems do, as clients made with `client create --operator`. No customer’s client may have these scopes.',
  scopes: [],
}

/** Renders OpenAPI 3.1 from the schemas that validate requests. `version` is the program's. */
export function openApiDocument(
  operations: readonly Documented[],
  version: string,
  publicUrl: string,
  { title, description, scopes }: About = customerApi,
): object {
  const views = new Map(operations.map(({ view }) => [view.name, view.schema]))
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
    paths: Object.fromEntries(
      operations.map((operation) => [
        operation.path.replaceAll(/:([a-z]+)/g, '{$1}'),
        { [operation.method.toLowerCase()]: operationObject(operation) },
      ]),
    ),
    components: {
      schemas: {
        ...Object.fromEntries([...views].map(([name, schema]) => [name, plainSchema(schema)])),
        Problem: plainSchema(problemSchema),
      },
      securitySchemes: { oauth2: securityScheme(operations, scopes, publicUrl) },
    },
  }
}

function securityScheme(
  operations: readonly Documented[],
  scopes: readonly string[],
  publicUrl: string,
): object {
  const used = new Set<string>([...scopes, ...operations.map(({ scope }) => scope)])
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

function operationObject(operation: Documented): object {
  return {
    operationId: operation.id,
    summary: titleOf(operation.id),
    description: operation.summary,
    tags: [operation.tag],
    security: [{ oauth2: [operation.scope] }],
    parameters: parametersOf(operation),
    ...('body' in operation && { requestBody: requestBody(operation.body) }),
    responses: responses(operation),
  }
}

function parametersOf({ path, query, required }: Documented): object[] {
  const inQuery = Object.entries(query).map(([name, field]) =>
    queryParameter(name, field, required.includes(name)),
  )
  return path.includes('/:id') ? [pathId, ...inQuery] : inQuery
}

const pathId = {
  name: 'id',
  in: 'path',
  required: true,
  schema: { type: 'string', format: 'uuid' },
}

/** `listFiatAccounts` → `List Fiat Accounts`, the operation's name in the contract. */
const titleOf = (id: string): string =>
  id.replace(/[A-Z]/g, (letter) => ` ${letter}`).replace(/^./, (letter) => letter.toUpperCase())

function queryParameter(
  name: string,
  field: Field<unknown> | ArrayField<string>,
  required: boolean,
): object {
  const schema =
    'each' in field
      ? { type: 'array', maxItems: field.entriesMax, items: plainSchema(field.each.schema) }
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

const ignoredHeader = {
  'X-Ignored-Parameters': {
    description: 'The names of at most 10 query parameters that the operation does not know.',
    schema: { type: 'string' },
  },
}

function responses(operation: Documented): object {
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
  return {
    200: {
      description: 'OK',
      headers: { 'X-Request-Id': { schema: { type: 'string' } }, ...ignoredHeader },
      content: { 'application/json': { schema: body } },
    },
    ...(isList && { 304: { description: 'The page is the one that If-None-Match names.' } }),
    ...problemResponses(operation),
  }
}

function problemResponses(operation: Documented): object {
  const plain: Readonly<Record<number, string>> = {
    400: 'A parameter is not of its form; `meta.errors` names each.',
    401: 'The access token is missing, invalid, expired or revoked.',
    403: `The token lacks the scope ${operation.scope}.`,
    429: 'Too many requests; wait as Retry-After says.',
    431: 'The request line and headers are too long; split long filters over several requests.',
    500: 'Something broke on our side.',
    503: 'Not able to answer now; try again as Retry-After says.',
    ...('body' in operation && { 413: 'The body has more than 16 KiB.' }),
  }
  const declared = operation.problems
  const statuses = [...Object.keys(plain), ...Object.keys(declared)].map(Number)
  const schema = { $ref: '#/components/schemas/Problem' }
  const responses = statuses.map((status) => {
    const types = declared[status]?.types?.map((slug) => `/problems/${slug}`)
    return [
      status,
      {
        description: declared[status]?.description ?? plain[status],
        content: { 'application/problem+json': { schema } },
        ...(types !== undefined && { 'x-problem-types': types }),
      },
    ]
  })
  return Object.fromEntries(responses)
}

const faultSchema = Type.Object({
  parameter: Type.String({ description: 'The parameter or the member of the body.' }),
  code: Type.String({
    description: `For programs. ${Object.entries(faultCodes)
      .map(([code, meaning]) => `\`${code}\`: ${meaning}`)
      .join(' ')} Later versions may add codes.`,
  }),
  reason: Type.String({ description: 'For people, without the name of the parameter.' }),
})

const problemSchema = Type.Object({
  type: Type.String({ description: '`about:blank`, or the path of the problem’s own page.' }),
  title: Type.String(),
  status: Type.Integer(),
  detail: Type.String({ description: 'What to change.' }),
  instance: Type.String(),
  request_id: Type.String({ description: 'The same as in the X-Request-Id header.' }),
  meta: Type.Optional(
    Type.Object({ errors: Type.Optional(Type.Array(faultSchema)) }, { additionalProperties: true }),
  ),
})
