import { answerHeaders, type Operation } from '@bursar/contract'
import type { TSchema } from 'typebox'
import type { AnswerExamples } from './openapi-examples.ts'
import { addComponent, type Components, plainSchema } from './openapi-schemas.ts'

type Answer = Operation['answers'][number]

/** The responses of an operation: every status that it declares, with headers and examples. */
export function responsesOf(
  { id, answers }: Operation,
  examples: AnswerExamples,
  problem: TSchema,
  components: Components,
): object {
  const responses = Object.entries(answers).map(([status, answer]) => {
    const recorded = examples.of(id, status)
    const content = contentOf(Number(status) >= 400, answer, problem, components)
    const { description, headers, types } = answer
    const response = {
      description,
      headers: Object.fromEntries(
        headers.map((name) => [name, { $ref: `#/components/headers/${name}` }]),
      ),
      ...(content !== undefined && {
        content: {
          [content.type]: {
            schema: content.schema,
            ...(recorded !== undefined && { examples: recorded }),
          },
        },
      }),
      ...(types && { 'x-problem-types': types.map((slug) => `/problems/${slug}`) }),
    }
    return [status, response]
  })
  return Object.fromEntries(responses)
}

function contentOf(
  isProblem: boolean,
  { view }: Answer,
  problem: TSchema,
  components: Components,
): { readonly type: string; readonly schema: object } | undefined {
  if (isProblem) {
    return { type: 'application/problem+json', schema: plainSchema(problem, components) }
  }
  if (view === undefined) return undefined
  const schema = addComponent(view.name, plainSchema(view.schema, components), components)
  return { type: 'application/json', schema }
}

/** The headers that responses name, each once. */
export const headerComponents = (): object => {
  const described = Object.entries(answerHeaders).map(([name, description]) => [
    name,
    { description, schema: { type: 'string' } },
  ])
  return Object.fromEntries(described)
}
