import recorded from './openapi-examples.json' with { type: 'json' }

/** An example of OpenAPI. */
export type Example = { readonly summary: string; readonly value: unknown }

/** What the sandbox answers to requests of one operation. */
export type OperationExamples = {
  /** By the name of the parameter, in the path or in the query. Together they select a record. */
  readonly parameters: Readonly<Record<string, unknown>>
  readonly bodies: Readonly<Record<string, Example>>
  /** By status, then by name. */
  readonly answers: Readonly<Record<string, Readonly<Record<string, Example>>>>
}

const examples: Readonly<Record<string, OperationExamples | undefined>> = recorded

const none: OperationExamples = { parameters: {}, bodies: {}, answers: {} }

/** The examples of an operation. `test/support/record-examples.ts` writes the file. */
export const examplesOf = (operationId: string): OperationExamples => examples[operationId] ?? none

type Shown = Example | { readonly $ref: string }

/** The examples of the answers of one API. */
export type AnswerExamples = {
  /** Those of an operation, or references to those of every operation. */
  of(operationId: string, status: string): Readonly<Record<string, Shown>> | undefined
  /** The examples that were referred to, by the name of their component. */
  readonly shared: Readonly<Record<string, Example>>
}

export function openAnswerExamples(api: string): AnswerExamples {
  const common = examplesOf(`every ${api} operation`).answers
  const shared: Record<string, Example> = {}
  const share = (status: string, name: string, example: Example): Shown => {
    shared[`${status}-${name}`] = example
    return { $ref: `#/components/examples/${status}-${name}` }
  }
  return {
    shared,
    of: (operationId, status) => {
      const own = examplesOf(operationId).answers[status]
      const others = common[status]
      if (own !== undefined || others === undefined) return own
      return Object.fromEntries(
        Object.entries(others).map(([name, example]) => [name, share(status, name, example)]),
      )
    },
  }
}

/** Every recorded answer of a status with a type: the problems. */
export const recordedProblems = (status: number): readonly { readonly type: string }[] =>
  Object.values(examples)
    .flatMap((operation) => Object.values(operation?.answers[status] ?? {}))
    .map(({ value }) => value)
    .filter(isProblem)

const isProblem = (value: unknown): value is { readonly type: string } =>
  typeof value === 'object' && value !== null && 'type' in value
