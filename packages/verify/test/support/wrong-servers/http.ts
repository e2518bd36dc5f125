import type { Asked, Wrong } from '../wrong-server.ts'
import {
  asks,
  drops,
  isList,
  isSingle,
  isToken,
  json,
  problem,
  refuses,
  statusOf,
  type WrongServerCase,
  withHeader,
  withoutHeader,
} from './mutations.ts'

const problems: readonly WrongServerCase[] = [
  {
    fault: 'answers 400 at an unknown path',
    breaks: ['problems.unknown-path'],
    wrong: refuses(400, (_, asked) => asked.url.pathname.startsWith('/v2/no-such')),
  },
  {
    fault: 'answers HTML at an unknown path',
    breaks: ['problems.format', 'problems.request-id'],
    wrong: {
      answer: (_, { url }) =>
        url.pathname.startsWith('/v2/no-such')
          ? { text: '<h1>Not Found</h1>', headers: new Headers({ 'content-type': 'text/html' }) }
          : {},
    },
  },
  {
    fault: 'answers errors as plain JSON',
    breaks: ['problems.format'],
    wrong: {
      answer: ({ status, headers }) =>
        status >= 400 ? { headers: withHeader(headers, 'content-type', 'application/json') } : {},
    },
  },
  {
    fault: 'sends no X-Request-Id',
    breaks: ['problems.request-id'],
    wrong: drops('x-request-id'),
  },
  {
    fault: 'answers 400 to an unknown id',
    breaks: ['problems.unknown-id', 'past.reads'],
    wrong: refuses(
      400,
      ({ status }, asked) => status === 404 && asked.url.pathname.startsWith('/v2/transfer/'),
    ),
  },
  {
    fault: 'answers 404 to an id that is no UUID',
    breaks: ['problems.malformed-id', 'events.read'],
    wrong: statusOf(400, 404, ({ url }) => url.pathname.endsWith('no-uuid')),
  },
  {
    fault: 'answers 422 to a malformed parameter',
    breaks: ['problems.bad-request', 'events.limit', 'past.future'],
    wrong: refuses(422, ({ status }, asked) => status === 400 && asks(asked, 'limit')),
  },
  {
    fault: 'answers 404 to a method that it does not have',
    breaks: ['problems.method'],
    wrong: refuses(404, (_, asked) => asked.method === 'PATCH'),
  },
  {
    fault: 'answers 405 without Allow',
    breaks: ['problems.method'],
    wrong: drops('allow'),
  },
  {
    fault: 'sends no challenge',
    breaks: [
      'authorization.challenge',
      'authorization.invalid-token',
      'authorization.scope-challenge',
    ],
    wrong: {
      answer: ({ headers }, asked) =>
        isToken(asked) ? {} : { headers: withoutHeader(headers, 'www-authenticate') },
    },
  },
  {
    fault: 'compares the scheme by case',
    breaks: ['authorization.scheme'],
    wrong: {
      answer: (_, asked) =>
        /^bEARER/.test(asked.headers.get('authorization') ?? '') ? problem(401, asked) : {},
    },
  },
  {
    fault: 'limits requests without Retry-After',
    breaks: ['answers.retry-after'],
    only: ['answers', 'filters'],
    wrong: () => {
      let count = 0
      return {
        answer: (_, asked) => {
          count += 1
          return count % 40 === 0 && isList(asked) ? problem(429, asked) : {}
        },
      }
    },
  },
  {
    fault: 'answers 502 now and then',
    breaks: ['answers.server-errors'],
    only: ['caching'],
    wrong: refuses(
      502,
      (_, asked) => isList(asked, 'statements') && asked.headers.has('if-none-match'),
    ),
  },
]

/** Answers with another ETag, and 304 to it. */
const tagged = (tagOf: (asked: Asked) => string): Wrong => ({
  answer: ({ status, headers }, asked) => {
    if (status !== 200 || !isList(asked)) return {}
    const changed = withHeader(headers, 'etag', tagOf(asked))
    return asked.headers.get('if-none-match') === tagOf(asked)
      ? { status: 304, text: '', headers: changed }
      : { headers: changed }
  },
})

const caching: readonly WrongServerCase[] = [
  {
    fault: 'lets caches store single records',
    breaks: ['caching.reads'],
    wrong: drops('cache-control', isSingle),
  },
  {
    fault: 'lets shared caches store lists',
    breaks: ['caching.lists'],
    wrong: {
      answer: ({ status, headers }, asked) =>
        status === 200 && isList(asked)
          ? { headers: withHeader(headers, 'cache-control', 'public, max-age=60') }
          : {},
    },
  },
  {
    fault: 'sends no ETag',
    breaks: ['caching.lists'],
    wrong: drops('etag'),
  },
  {
    fault: 'never answers 304',
    breaks: ['caching.not-modified'],
    wrong: {
      request: ({ headers }) => ({ headers: withoutHeader(headers, 'if-none-match') }),
    },
  },
  {
    fault: 'sends one ETag for all lists',
    breaks: ['caching.etag-differs'],
    wrong: tagged(() => '"one"'),
  },
  {
    fault: 'sends the ETag of a list whatever the query is',
    breaks: ['caching.etag-differs'],
    wrong: tagged(({ url }) => `"${url.pathname}"`),
  },
]

const tokens: readonly WrongServerCase[] = [
  {
    fault: 'answers 400 to a wrong secret',
    breaks: ['tokens.wrong-secret'],
    wrong: statusOf(401, 400, isToken),
  },
  {
    fault: 'tells an unknown client from a wrong secret',
    breaks: ['tokens.wrong-secret'],
    wrong: {
      answer: ({ status }, asked) => {
        const [, basic = ''] = /^Basic (.*)/.exec(asked.headers.get('authorization') ?? '') ?? []
        return isToken(asked) && status === 401 && atob(basic).startsWith('unknown_')
          ? { text: '{"error":"invalid_client","error_description":"no such client"}' }
          : {}
      },
    },
  },
  {
    fault: 'lets caches store tokens',
    breaks: ['tokens.answer'],
    wrong: drops('cache-control', isToken),
  },
  {
    fault: 'answers expires_in as text',
    breaks: ['tokens.answer'],
    wrong: {
      answer: ({ text }, asked) =>
        isToken(asked) ? { text: text.replace(/(?<="expires_in":)(\d+)/, '"$1"') } : {},
    },
  },
  {
    fault: 'issues tokens for any grant type',
    breaks: ['tokens.grant-type'],
    wrong: {
      request: (asked) =>
        isToken(asked)
          ? { body: asked.body.replace('grant_type=password', 'grant_type=client_credentials') }
          : {},
    },
  },
  {
    fault: 'names another error for another grant type',
    breaks: ['tokens.grant-type'],
    wrong: {
      answer: ({ text }, asked) =>
        isToken(asked) ? { text: text.replace('unsupported_grant_type', 'invalid_request') } : {},
    },
  },
  {
    fault: 'accepts credentials twice',
    breaks: ['tokens.two-methods'],
    wrong: {
      request: (asked) =>
        isToken(asked) && asked.headers.has('authorization')
          ? { body: asked.body.replace(/&client_(id|secret)=[^&]*/g, '') }
          : {},
    },
  },
  {
    fault: 'takes no multipart form',
    breaks: ['tokens.body'],
    wrong: {
      answer: (_, asked) =>
        isToken(asked) && /multipart/.test(asked.headers.get('content-type') ?? '')
          ? { ...json({ error: 'invalid_request' }), status: 400 }
          : {},
    },
  },
  {
    fault: 'refuses unknown scopes beside a known one',
    breaks: ['tokens.scope'],
    wrong: {
      answer: (_, asked) =>
        isToken(asked) && /scope=[^&]+no%3Asuch/.test(asked.body)
          ? { ...json({ error: 'invalid_scope' }), status: 400 }
          : {},
    },
  },
  {
    fault: 'issues tokens for unknown scopes',
    breaks: ['tokens.unknown-scope'],
    wrong: {
      request: (asked) =>
        isToken(asked) ? { body: asked.body.replace(/&scope=no%3Asuch_scope$/, '') } : {},
    },
  },
]

export const ofHttp: readonly WrongServerCase[] = [...problems, ...caching, ...tokens]
