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

/** The examples of an answer, or those that every operation of its API has for the status. */
export const answerExamples =
  (operationId: string, api: string) =>
  (status: string): Readonly<Record<string, Example>> | undefined =>
    examplesOf(operationId).answers[status] ?? examplesOf(`every ${api} operation`).answers[status]

/** Every recorded answer of a status with a type: the problems. */
export const recordedProblems = (status: number): readonly { readonly type: string }[] =>
  Object.values(examples)
    .flatMap((operation) => Object.values(operation?.answers[status] ?? {}))
    .map(({ value }) => value)
    .filter(isProblem)

const isProblem = (value: unknown): value is { readonly type: string } =>
  typeof value === 'object' && value !== null && 'type' in value
