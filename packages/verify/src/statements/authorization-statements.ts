import { alone, type Checks, each, once } from '../check-statement.ts'
import type { Session } from '../client/client-session.ts'
import type { Exchange } from '../client/exchange.ts'
import { feeOperation, type List, lists } from '../contract.ts'
import { pathIdOf } from '../json.ts'
import { hold, holdStatus, ifNotTestable, need } from '../verdicts.ts'
import { readQueriesOf, type Way, waysToAny } from '../ways.ts'
import { cursorOf } from './paging-statements.ts'

/** Contract, section 5: every request carries a bearer token with the operation's scope. */
export const authorizationStatements: Checks = {
  'authorization.required': each(({ session }, list) => isClosed(session, list, null)),
  'authorization.reads-required': alone(({ session }, { list }) =>
    isReadClosed(session, list, null),
  ),
  'authorization.challenge': once(async ({ session }) => {
    const answered = await session.call(lists[0]?.path ?? '', { token: null })
    holdStatus(answered, 401)
    const challenge = answered.headers.get('www-authenticate') ?? ''
    hold(/^bearer\b/i.test(challenge), 'WWW-Authenticate must be Bearer', answered)
    hold(!challenge.includes('error='), 'WWW-Authenticate must have no error code', answered)
  }),
  'authorization.invalid-token': each(async ({ session }, list) => {
    const answered = await session.call(list.path, { token: altered(session.tokens.all) })
    holdStatus(answered, 401)
    challenges(answered, 'invalid_token')
  }),
  'authorization.scheme': each(async ({ session }, list) => {
    session.needScope(list.scope)
    const authorization = `bEARER ${session.tokens.all}`
    const call = { headers: { authorization }, sent: 'with the scheme bEARER' }
    const answered = await session.list(list, { limit: '1' }, call)
    hold(answered.status !== 401, 'the status must not be 401', answered)
  }),
  'authorization.scope': each(async ({ session }, list) =>
    isClosed(session, list, await tokenWithout(session, list.scope)),
  ),
  'authorization.reads-scope': alone(async ({ session }, { list }) =>
    isReadClosed(session, list, await tokenWithout(session, list.scope)),
  ),
  'authorization.scope-challenge': each(async ({ session }, list) => {
    const token = await tokenWithout(session, list.scope)
    const answered = await session.list(list, {}, { token })
    holdStatus(answered, 403)
    challenges(answered, 'insufficient_scope')
  }),
  'authorization.fee-required': once(async ({ session, allowFees }) => {
    need(allowFees, 'creating fees was not allowed (--allow-fees)')
    const call = { method: 'POST', body: '{}', token: null }
    const answered = await session.call(feeOperation.path, call)
    const isUnauthorized = [401, 403].includes(answered.status)
    hold(isUnauthorized, 'it must be refused before its body is read', answered)
  }),
  'authorization.fee-scope': once(async ({ session, allowFees }) => {
    need(allowFees, 'creating fees was not allowed (--allow-fees)')
    const token = await tokenWithout(session, feeOperation.scope)
    const call = { method: 'POST', body: '{}', token }
    holdStatus(await session.call(feeOperation.path, call), 403)
  }),
}

/** Refuses the list itself, its second page, and every way to a record that it has. */
async function isClosed(session: Session, list: List, token: string | null): Promise<void> {
  const sample = await session.sample(list).catch(ifNotTestable)
  const page_cursor = await cursorOf(session, list).catch(ifNotTestable)
  const ways: readonly Way[] = [
    { name: 'no filter', query: {} },
    ...(page_cursor === undefined ? [] : [{ name: 'page_cursor', query: { page_cursor } }]),
    ...waysToAny(sample?.items ?? [], list),
  ]
  for (const { name, query } of ways) {
    const answered = await session.list(list, query, { token })
    // A server that fails shows nothing either.
    hold(answered.status >= 400, `it must be refused by ${name}`, answered)
  }
}

/** Refuses a record that exists, where the list shows one; also with the flag for deleted ones. */
async function isReadClosed(session: Session, list: List, token: string | null): Promise<void> {
  const sample = await session.sample(list).catch(ifNotTestable)
  const [item] = sample?.items ?? []
  const path = `${list.path}/${item === undefined ? session.newId() : pathIdOf(item)}`
  for (const query of readQueriesOf(list)) {
    const answered = await session.call(`${path}${query}`, { token })
    hold(answered.status >= 400, 'it must be refused', answered)
  }
}

/** A token with every other scope of the client. */
export async function tokenWithout({ tokens }: Session, missing: string): Promise<string> {
  const others = tokens.scopes?.filter((own) => own !== missing) ?? []
  need(others.length > 0, 'the client has no other scope')
  const token = await tokens.withScopes(others)
  need(token !== undefined, 'no token with fewer scopes is issued')
  return token
}

function challenges(answered: Exchange, error: string): void {
  const challenge = answered.headers.get('www-authenticate') ?? ''
  hold(challenge.includes(`error="${error}"`), `WWW-Authenticate must have ${error}`, answered)
}

/** A JWT with another signature; an opaque token is replaced. */
function altered(token: string): string {
  const at = token.lastIndexOf('.')
  return at === -1 ? 'no-such-token' : `${token.slice(0, at + 1)}${'A'.repeat(86)}`
}
