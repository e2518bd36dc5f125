import assert from 'node:assert/strict'
import type { TSchema } from 'typebox'
import { type AnswerHeader, answerHeaders, type DeclaredAnswer } from '../../contract/answers.ts'
import type { IngestOperation } from '../../contract/ingest-operation.ts'
import type { ListOperation, Operation } from '../../contract/operation.ts'
import type { SandboxOperation } from '../../contract/sandbox-operation.ts'
import { limits } from '../../platform/limits.ts'
import { answerExamples } from './openapi-examples.ts'
import { addComponent, type Components, capitalised, plainSchema } from './openapi-schemas.ts'

type Documented = Operation | IngestOperation | SandboxOperation

/** The responses of an operation: every status that it declares, with headers and examples. */
export function responsesOf(
  operation: Documented,
  problem: TSchema,
  components: Components,
): object {
  const responses = Object.entries(operation.answers).map(([status, answer]) => [
    status,
    {
      description: answer.description,
      headers: headersOf(operation, answer),
      ...contentOf(operation, Number(status), problem, components),
      ...(answer.types && { 'x-problem-types': answer.types.map((slug) => `/problems/${slug}`) }),
    },
  ])
  return Object.fromEntries(responses)
}

/** No call of the sandbox has a limit, or ignores a parameter. */
const always: readonly AnswerHeader[] = ['X-Request-Id']
const ofClients: readonly AnswerHeader[] = [
  'X-Ignored-Parameters',
  'RateLimit-Limit',
  'RateLimit-Remaining',
  'RateLimit-Reset',
]

function headersOf({ kind }: Documented, { headers = [] }: DeclaredAnswer): object {
  const names = [...always, ...headers, ...(kind === 'control' ? [] : ofClients)]
  const references = names.map((name) => [name, { $ref: `#/components/headers/${name}` }])
  return Object.fromEntries(references)
}

/** The headers that responses name, each once. */
export const headerComponents = (): object => {
  const described = Object.entries(answerHeaders).map(([name, description]) => [
    name,
    { description, schema: { type: 'string' } },
  ])
  return Object.fromEntries(described)
}

function contentOf(
  operation: Documented,
  status: number,
  problem: TSchema,
  components: Components,
): object {
  if (status === 204 || status === 304) return {}
  const recorded = answerExamples(operation.id, apiOf(operation), status)
  const examples = recorded === undefined ? {} : { examples: recorded }
  if (status >= 400) {
    const schema = plainSchema(problem, components)
    return { content: { 'application/problem+json': { schema, ...examples } } }
  }
  const { kind } = operation
  const list = kind === 'past-list' ? operation.list : kind === 'list' ? operation : undefined
  const view = kind === 'past-list' ? operation.list.view : operation.view
  assert(view !== undefined, `${operation.id} declares what it answers`)
  const record = addComponent(view.name, plainSchema(view.schema, components), components)
  const schema = list === undefined ? record : pageSchema(list, record, components)
  return { content: { 'application/json': { schema, ...examples } } }
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

function apiOf({ kind }: Documented): 'customers' | 'ingest' | 'sandbox' {
  if (kind === 'control') return 'sandbox'
  return kind === 'ingest' || kind === 'past-list' ? 'ingest' : 'customers'
}
