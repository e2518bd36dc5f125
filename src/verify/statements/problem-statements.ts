import { alone, type Checks, each, once } from '../check-statement.ts'
import type { Session } from '../client/client-session.ts'
import type { Exchange } from '../client/exchange.ts'
import { fiatAccounts, issuerQuotes, lists } from '../contract.ts'
import { memberOf, textOf } from '../json.ts'
import { hold, holdStatus, need } from '../verdicts.ts'

/** Errors: RFC 9457 problem details, which the contract leaves open. */
export const problemStatements: Checks = {
  'problems.format': once(async ({ session }) => {
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
  }),
  'problems.request-id': once(async ({ session }) => {
    for (const answered of await errorsOf(session)) {
      const id = textOf(answered.body, 'request_id')
      const header = answered.headers.get('x-request-id')
      hold(id !== undefined && id === header, 'request_id and X-Request-Id differ', answered)
    }
  }),
  'problems.unknown-id': alone(async ({ session }, { list, unknownDetail }) => {
    session.needScope(list.scope)
    const id = session.newId()
    const answered = await session.call(`${list.path}/${id}`)
    holdStatus(answered, 404)
    const detail = unknownDetail(id)
    hold(textOf(answered.body, 'detail') === detail, `detail must be: ${detail}`, answered)
  }),
  'problems.malformed-id': alone(async ({ session }, { list }) => {
    session.needScope(list.scope)
    holdStatus(await session.call(`${list.path}/no-uuid`), 400)
  }),
  'problems.bad-request': each(async ({ session }, list) => {
    session.needScope(list.scope)
    holdStatus(await session.list(list, { limit: '0' }), 400)
  }),
  'problems.unknown-path': once(async ({ session }) => {
    holdStatus(await session.call(`/v2/no-such-path-${session.newId()}`), 404)
  }),
  'problems.method': once(async ({ session }) => {
    // An unknown id and no body: a server that takes the method has nothing to change.
    const path = `${fiatAccounts.path}/${session.newId()}`
    const answered = await session.call(path, { method: 'PATCH' })
    holdStatus(answered, 405)
    const allow = answered.headers.get('allow') ?? ''
    hold(/\bGET\b/.test(allow), 'Allow must name GET', answered)
  }),
}

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
