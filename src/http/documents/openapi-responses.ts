import type { TSchema } from 'typebox'
import type { IngestOperation } from '../../contract/ingest-operation.ts'
import type { ListOperation, Operation } from '../../contract/operation.ts'
import type { SandboxOperation } from '../../contract/sandbox-operation.ts'
import { limits } from '../../platform/limits.ts'
import { examplesOf } from './openapi-examples.ts'
import { addComponent, type Components, capitalised, plainSchema } from './openapi-schemas.ts'

type Documented = Operation | IngestOperation | SandboxOperation

/** The responses of an operation: its answer, and every problem with its examples. */
export function responsesOf(
  operation: Documented,
  problem: TSchema,
  components: Components,
): object {
  const { id, kind } = operation
  const status = kind === 'control' || kind === 'ingest' ? operation.status : 200
  const list = kind === 'past-list' ? operation.list : kind === 'list' ? operation : undefined
  const view = kind === 'past-list' ? operation.list.view : operation.view
  if (view === undefined) {
    return {
      [status]: { description: 'Done.' },
      ...problemResponses(operation, problem, components),
    }
  }
  const record = addComponent(view.name, plainSchema(view.schema, components), components)
  const schema = list === undefined ? record : pageSchema(list, record, components)
  return {
    [status]: {
      description: 'OK',
      headers: {
        'X-Request-Id': {
          description: 'Names the request; the same as in the log and in problems.',
          schema: { type: 'string' },
        },
        ...headersOf(operation),
        'X-Ignored-Parameters': {
          description: `The names of at most ${limits.ignoredNamesMax} query parameters that the operation does not know.`,
          schema: { type: 'string' },
        },
      },
      content: { 'application/json': { schema, ...examplesFor(id, 200) } },
    },
    ...((kind === 'list' || isTaggedRead(operation)) && {
      304: {
        description: `The ${kind === 'list' ? 'page' : 'record'} is the one that If-None-Match names.`,
      },
    }),
    ...problemResponses(operation, problem, components),
  }
}

const isTaggedRead = (operation: Documented): boolean =>
  operation.kind === 'ingest' && operation.method === 'GET' && operation.isTagged === true

function headersOf(operation: Documented): object {
  const header = (description: string) => ({ description, schema: { type: 'string' } })
  if (operation.kind === 'ingest' && operation.isTagged === true) {
    return { ETag: header('The entity tag of the stored version.') }
  }
  const instant = 'The time of the answer'
  if (operation.kind === 'past-list') return { 'As-Of': header(`${instant}, for \`as_of\`.`) }
  if (operation.kind !== 'list') return {}
  return {
    'As-Of': header(`${instant}: when these records last changed. Absent where there are none.`),
  }
}

/** The envelope of a list, as a component: `listFiatAccounts` answers a `FiatAccountsPage`. */
function pageSchema(
  { id, envelope }: ListOperation,
  record: object,
  components: Components,
): object {
  const schema = {
    description: 'A page of records, in the order of the request.',
    type: 'object',
    required: [envelope],
    properties: {
      [envelope]: {
        description: 'The records; empty where none matches.',
        type: 'array',
        maxItems: limits.pageSizeMax,
        items: record,
      },
      next_page_cursor: {
        description: 'The `page_cursor` of the next page. Absent on the last page.',
        type: 'string',
      },
    },
  }
  return addComponent(`${capitalised(id.replace(/^list/, ''))}Page`, schema, components)
}

const examplesFor = (id: string, status: number): object => {
  const examples = examplesOf(id).answers[status]
  return examples === undefined ? {} : { examples }
}

function problemResponses(operation: Documented, problem: TSchema, components: Components): object {
  const plain = operation.kind === 'control' ? ofControl : plainProblems(operation)
  const declared = operation.problems
  const statuses = new Set([...Object.keys(plain), ...Object.keys(declared)].map(Number))
  const schema = plainSchema(problem, components)
  const responses = [...statuses].map((status) => {
    const types = declared[status]?.types?.map((slug) => `/problems/${slug}`)
    return [
      status,
      {
        description: declared[status]?.description ?? plain[status],
        content: { 'application/problem+json': { schema, ...examplesFor(operation.id, status) } },
        ...(types !== undefined && { 'x-problem-types': types }),
      },
    ]
  })
  return Object.fromEntries(responses)
}

type Descriptions = Readonly<Record<number, string>>

const ofControl: Descriptions = {
  400: 'A parameter or a member is not of its form; `meta.errors` names each.',
  403: 'A page of another site has sent the request.',
  413: 'The body is too large.',
  500: 'Something broke on our side.',
  503: 'Not able to answer now; try again as Retry-After says.',
}

function plainProblems(operation: Operation | IngestOperation): Descriptions {
  return {
    400: 'A parameter is not of its form; `meta.errors` names each.',
    401: 'The access token is missing, invalid, expired or revoked.',
    403:
      operation.scope === null
        ? 'The token belongs to a client of a customer.'
        : `The token lacks the scope ${operation.scope}.`,
    429: 'Too many requests; wait as Retry-After says.',
    431: 'The request line and headers are too long; split long filters over several requests.',
    500: 'Something broke on our side.',
    503: 'Not able to answer now; try again as Retry-After says.',
    ...('body' in operation && { 413: tooLarge(operation) }),
  }
}

function tooLarge({ kind, body }: Pick<Extract<Documented, { body?: unknown }>, 'kind' | 'body'>) {
  const isRecord =
    kind === 'ingest' && body !== undefined && body !== 'ndjson' && !('members' in body)
  return isRecord ? 'A record has more than 1 MiB.' : 'The body has more than 16 KiB.'
}
