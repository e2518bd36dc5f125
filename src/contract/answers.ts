import type { TSchema } from 'typebox'
import { limits } from '../platform/limits.ts'
import type { ProblemSlug } from './problem.ts'

/** The headers of answers beside those of HTTP itself, each with its meaning. */
export const answerHeaders = {
  'X-Request-Id': 'Names the request; the same as in the log and in problems.',
  'X-Ignored-Parameters': `The names of at most ${limits.ignoredNamesMax} query parameters that the operation does not know.`,
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

/** What an operation answers with one status. Its body is that of the operation, or a problem. */
export type DeclaredAnswer = {
  readonly description: string
  /** Besides those of every answer. */
  readonly headers?: readonly AnswerHeader[]
  readonly types?: readonly ProblemSlug[]
}

/** A problem of an operation. What is absent is as in every operation that has this status. */
export type DeclaredProblem = Partial<DeclaredAnswer>

/** What an operation answers, by status. */
export type Answers = Readonly<Record<number, DeclaredAnswer>>

type Answering = {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** The scope of the token; null where each token of the API will do, absent without a token. */
  readonly scope?: string | null
  /** The largest body in words, where the operation takes one. */
  readonly bodyMax?: string | undefined
  readonly successes: Answers
  readonly problems: Readonly<Record<number, DeclaredProblem>>
}

/** Every status: the successes, the own problems, and those that any request may get. */
export function answersOf({ successes, problems, ...request }: Answering): Answers {
  const common = commonProblems(request)
  const statuses = [...Object.keys(common), ...Object.keys(problems)].map(Number)
  const all = statuses.map((status) => {
    const { description, headers = [], types } = problems[status] ?? {}
    const shared = common[status]
    const declared: DeclaredAnswer = {
      description: description ?? shared?.description ?? '',
      headers: [...new Set([...(shared?.headers ?? []), ...headers])],
      ...(types !== undefined && { types }),
    }
    return [status, declared] as const
  })
  return { ...successes, ...Object.fromEntries(all) }
}

/** What a success with this body is; the text of a success without a body where there is none. */
export const successText = (schema: TSchema | undefined): string =>
  schema !== undefined && 'description' in schema
    ? String(schema.description)
    : 'Done. The answer has no body.'

function commonProblems({ method, scope, bodyMax }: Omit<Answering, 'successes' | 'problems'>) {
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
  return {
    ...answers,
    408: { description: 'The request was not sent whole in time.' },
    413: { description: bodyMax ?? 'The body has more than 16 KiB.' },
    415: {
      description: 'The body has a coding that is not accepted.',
      headers: ['Accept-Encoding'] as const,
    },
    501: { description: 'The Transfer-Encoding of the body is not chunked.' },
  }
}
