import type { TSchema } from 'typebox'
import { contractLimits } from './limits.ts'
import type { ProblemSlug } from './problem.ts'

/** The headers of answers beside those of HTTP itself, each with its meaning. */
export const answerHeaders = {
  'X-Request-Id': 'Names the request; the same as in the log and in problems.',
  'X-Ignored-Parameters': `The names of at most ${contractLimits.ignoredNamesMax} query parameters that the operation does not know.`,
  'X-Joined-Parameters':
    'On an empty page, the query parameters whose value looks like several values in one, such as `A,B`. Repeat the parameter for each.',
  'RateLimit-Limit': 'How many requests a second the client may send. Absent without a limit.',
  'RateLimit-Remaining': 'How many of them are left in this second.',
  'RateLimit-Reset': 'In how many seconds all of them are there again.',
  'Retry-After': 'After how many seconds to send the request again.',
  'WWW-Authenticate': 'The scheme `Bearer`, with the fault of the token where one was sent.',
  'Accept-Encoding': 'The coding that the body may have.',
  ETag: 'The entity tag: of the page, or of the stored version of the record.',
  'As-Of': 'The instant of the page, for `as_of`. Absent where there are no records.',
} as const

export type AnswerHeader = keyof typeof answerHeaders

/** What an operation answers with one status: what is absent is as in every operation. */
export type DeclaredAnswer = {
  readonly description?: string
  readonly headers?: readonly AnswerHeader[]
  readonly types?: readonly ProblemSlug[]
}

/** An answer with all of its headers. Without a view it has no body, or is a problem. */
type CompleteAnswer = {
  readonly description: string
  readonly headers: readonly AnswerHeader[]
  readonly types?: readonly ProblemSlug[]
  readonly view?: AnsweredView
}

export type AnsweredView = { readonly name: string; readonly schema: TSchema }

/** What an operation answers, by status. */
export type Answers = Readonly<Record<number, CompleteAnswer>>

type Answering = {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  readonly scope?: string | null
  readonly body?: object
}

/** Every status: the own ones, and those that any request may get. */
export function answersOf(
  request: Answering,
  view: AnsweredView | undefined,
  declared: Readonly<Record<number, DeclaredAnswer>>,
): Answers {
  const usual = view === undefined ? 204 : 200
  const isUsual = !Object.keys(declared).some((status) => isSuccess(Number(status)))
  const common = commonProblems(request)
  const own: Answers = Object.fromEntries(
    Object.entries(isUsual ? { [usual]: {}, ...declared } : declared).map(([key, answer]) => {
      const status = Number(key)
      const shared = common[status] ?? (isSuccess(status) ? { description: textOf(view) } : {})
      const hasBody = isSuccess(status) && status !== 204
      return [
        status,
        complete(request, { ...shared, ...answer }, shared, hasBody ? view : undefined),
      ]
    }),
  )
  const others = Object.entries(common).map(
    ([status, answer]) => [status, complete(request, answer)] as const,
  )
  return { ...Object.fromEntries(others), ...own }
}

/** The statuses of success, the lowest first. */
export const successesOf = (answers: Answers): readonly number[] =>
  Object.keys(answers).map(Number).filter(isSuccess)

const isSuccess = (status: number): boolean => status < 300

const textOf = (view: AnsweredView | undefined): string =>
  view !== undefined && 'description' in view.schema
    ? String(view.schema.description)
    : 'Done. The answer has no body.'

/** Calls without a token have no limit, and ignore no parameter. */
function complete(
  { scope }: Answering,
  { description = '', headers = [], types }: DeclaredAnswer,
  shared: DeclaredAnswer = {},
  view?: AnsweredView,
): CompleteAnswer {
  const ofClients = scope === undefined ? [] : headersOfClients
  const names = ['X-Request-Id' as const, ...(shared.headers ?? []), ...headers, ...ofClients]
  return {
    description,
    headers: [...new Set(names)],
    ...(types !== undefined && { types }),
    ...(view !== undefined && { view }),
  }
}

const headersOfClients = [
  'X-Ignored-Parameters',
  'RateLimit-Limit',
  'RateLimit-Remaining',
  'RateLimit-Reset',
] as const

function commonProblems({ method, scope, body }: Answering) {
  const answers: Record<number, DeclaredAnswer> = {
    400: { description: 'A parameter is not of its form; `meta.errors` names each.' },
    403: { description: 'A page of another site has sent the request.' },
    417: { description: 'The Expect header names something else than 100-continue.' },
    429: {
      description: 'Too many requests; wait as Retry-After says.',
      headers: ['Retry-After'],
    },
    431: {
      description:
        'The request line and headers are too long; split long filters over several requests.',
    },
    500: { description: 'Something broke on our side.' },
    503: {
      description: 'Not able to answer now; try again as Retry-After says.',
      headers: ['Retry-After'],
    },
  }
  if (scope !== undefined) {
    answers[401] = {
      description: 'The access token is missing, invalid, expired or revoked.',
      headers: ['WWW-Authenticate'],
    }
    answers[403] = {
      description:
        scope === null
          ? 'The token belongs to a client of a customer.'
          : `The token lacks the scope ${scope}.`,
      headers: ['WWW-Authenticate'],
    }
  }
  // The body of a GET is ignored, whatever it is.
  if (method === 'GET') return answers
  const tooLarge = body !== undefined && 'tooLarge' in body ? String(body.tooLarge) : undefined
  return {
    ...answers,
    408: { description: 'The request was not sent whole in time.' },
    413: { description: tooLarge ?? 'The body has more than 16 KiB.' },
    415: {
      description: 'The body has a coding that is not accepted.',
      headers: ['Accept-Encoding'] as const,
    },
    501: { description: 'The Transfer-Encoding of the body is not chunked.' },
  }
}
