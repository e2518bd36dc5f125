import { counted } from '@bursar/base'
import { alone, type Checks, type Context, each, once } from '../check-statement.ts'
import type { Session } from '../client/client-session.ts'
import type { Exchange } from '../client/exchange.ts'
import { fiatAccounts, issuerQuotes, lists } from '../contract.ts'
import { memberOf, textOf } from '../json.ts'
import { hold, holdStatus, type NoAnswer, need } from '../verdicts.ts'

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

/**
 * What is seen of every answer of the run, and therefore checked last. A fault here is the cause of
 * others that the report cannot test, so it is named whichever statements are chosen.
 */
export const answerStatements: Checks = {
  'answers.complete': once(async (context) => hasNone('incomplete', context)),
  'answers.decodable': once(async (context) => hasNone('undecodable', context)),
  'answers.server-errors': once(async ({ observed }) => {
    const errors = observed.refusals.filter(({ status }) => status >= 500 && status !== 503)
    const [error] = errors
    const says = `${errors.length} of ${counted(observed.requests, 'request')} failed, such as this one`
    if (error !== undefined) hold(false, says, error)
  }),
  'answers.retry-after': once(async ({ observed }) => {
    const refusals = observed.refusals.filter(({ status }) => [429, 503].includes(status))
    need(refusals.length > 0, 'no answer was 429 or 503')
    for (const refusal of refusals) {
      const isThere = /^\d+$/.test(refusal.headers.get('retry-after') ?? '')
      hold(isThere, 'Retry-After must state seconds', refusal)
    }
  }),
}

/** One finding, however many requests failed. */
function hasNone(kind: NoAnswer['kind'], { observed }: Context): void {
  const failures = observed.failures.filter((failure) => failure.kind === kind)
  const [first] = failures
  if (first === undefined) return
  const says = `${first.message} (${failures.length} of ${counted(observed.requests, 'request')})`
  hold(false, says, first.evidence)
}
