import type { Statement } from '../check-statement.ts'
import type { Session } from '../client/client-session.ts'
import type { Exchange } from '../client/exchange.ts'
import { fiatAccounts, issuerQuotes, lists } from '../contract.ts'
import { memberOf, textOf } from '../json.ts'
import { guide, rfc } from '../source.ts'
import { hold, holdStatus, need } from '../verdicts.ts'

/** Errors: RFC 9457 problem details, which the contract leaves open. */
export const problemStatements: readonly Statement[] = [
  {
    id: 'problems.format',
    says: 'Errors are application/problem+json with type, title, status, detail and instance.',
    source: rfc(9457, '3'),
    check: async ({ session }) => {
      for (const answered of await errorsOf(session)) {
        const type = answered.headers.get('content-type') ?? ''
        hold(/^application\/problem\+json\b/.test(type), 'it is not problem+json', answered)
        const missing = ['type', 'title', 'detail', 'instance'].find(
          (name) => textOf(answered.body, name) === undefined,
        )
        hold(missing === undefined, `${missing} is missing`, answered)
        const isSame = memberOf(answered.body, 'status') === answered.status
        hold(isSame, 'status must be that of the answer', answered)
      }
    },
  },
  {
    id: 'problems.request-id',
    says: 'The request_id of an error is that of its X-Request-Id header.',
    source: guide('Errors'),
    check: async ({ session }) => {
      for (const answered of await errorsOf(session)) {
        const id = textOf(answered.body, 'request_id')
        const header = answered.headers.get('x-request-id')
        hold(id !== undefined && id === header, 'request_id and X-Request-Id differ', answered)
      }
    },
  },
  {
    id: 'problems.unknown-id',
    says: 'A single read of an unknown id is answered 404.',
    source: guide('404 Not Found'),
    checkRead: async ({ session }, { list, unknownDetail }) => {
      session.needScope(list.scope)
      const id = session.newId()
      const answered = await session.call(`${list.path}/${id}`)
      holdStatus(answered, 404)
      const detail = unknownDetail(id)
      hold(textOf(answered.body, 'detail') === detail, `detail must be: ${detail}`, answered)
    },
  },
  {
    id: 'problems.malformed-id',
    says: 'A single read of an id that is no UUID is answered 400.',
    source: guide('400 Bad Request'),
    checkRead: async ({ session }, { list }) => {
      session.needScope(list.scope)
      holdStatus(await session.call(`${list.path}/no-uuid`), 400)
    },
  },
  {
    id: 'problems.bad-request',
    says: 'A list with a malformed parameter is answered 400.',
    source: guide('400 Bad Request'),
    checkList: async ({ session }, list) => {
      session.needScope(list.scope)
      holdStatus(await session.list(list, { limit: '0' }), 400)
    },
  },
  {
    id: 'problems.unknown-path',
    says: 'An unknown path is answered 404.',
    source: guide('404 Not Found'),
    check: async ({ session }) => {
      holdStatus(await session.call(`/v2/no-such-path-${session.newId()}`), 404)
    },
  },
  {
    id: 'problems.method',
    says: 'A method that a path does not have is answered 405 with Allow.',
    source: rfc(9110, '15.5.6'),
    check: async ({ session }) => {
      // An unknown id and no body: a server that takes the method has nothing to change.
      const path = `${fiatAccounts.path}/${session.newId()}`
      const answered = await session.call(path, { method: 'PATCH' })
      holdStatus(answered, 405)
      const allow = answered.headers.get('allow') ?? ''
      hold(/\bGET\b/.test(allow), 'Allow must name GET', answered)
    },
  },
]

/** One error of each kind that a read-only client can cause. */
async function errorsOf(session: Session): Promise<readonly Exchange[]> {
  const own = lists.find(({ scope }) => session.hasScope(scope))
  const { path } = own ?? issuerQuotes
  const answers = await Promise.all([
    session.call(path, { token: null }),
    session.call(`${path}?limit=0`),
    session.call(`/v2/no-such-path-${session.newId()}`),
  ])
  const errors = answers.filter(({ status }) => status >= 400)
  need(errors.length > 0, 'no request was answered with an error')
  return errors
}
