import type { Statement } from '../check-statement.ts'
import type { Session } from '../client/client-session.ts'
import type { Exchange } from '../client/exchange.ts'
import { feeOperation, type List, lists } from '../contract.ts'
import { pathIdOf } from '../json.ts'
import { contract, guide, rfc } from '../source.ts'
import { hold, holdStatus, ifNotTestable, need } from '../verdicts.ts'
import { readQueriesOf, type Way, waysToAny } from '../ways.ts'
import { cursorOf } from './cursor-statements.ts'

/** Contract, section 5: every request carries a bearer token with the operation's scope. */
export const authorizationStatements: readonly Statement[] = [
  {
    id: 'authorization.required',
    says: 'A list without an Authorization header is refused, by whichever filter.',
    source: contract('5'),
    checkList: ({ session }, list) => isClosed(session, list, null),
  },
  {
    id: 'authorization.reads-required',
    says: 'A single read without an Authorization header is refused.',
    source: contract('5'),
    checkRead: ({ session }, { list }) => isReadClosed(session, list, null),
  },
  {
    id: 'authorization.challenge',
    says: 'Without a header the answer is 401 with WWW-Authenticate Bearer and no error code.',
    source: rfc(6750, '3'),
    check: async ({ session }) => {
      const answered = await session.call(lists[0]?.path ?? '', { token: null })
      holdStatus(answered, 401)
      const challenge = answered.headers.get('www-authenticate') ?? ''
      hold(/^bearer\b/i.test(challenge), 'WWW-Authenticate must be Bearer', answered)
      hold(!challenge.includes('error='), 'WWW-Authenticate must have no error code', answered)
    },
  },
  {
    id: 'authorization.invalid-token',
    says: 'A token that the server did not issue is answered 401 with invalid_token.',
    source: rfc(6750, '3.1'),
    checkList: async ({ session }, list) => {
      const answered = await session.call(list.path, { token: altered(session.tokens.all) })
      holdStatus(answered, 401)
      challenges(answered, 'invalid_token')
    },
  },
  {
    id: 'authorization.scheme',
    says: 'The scheme of the Authorization header is matched without regard to case.',
    source: rfc(9110, '11.1'),
    checkList: async ({ session }, list) => {
      session.needScope(list.scope)
      const authorization = `bEARER ${session.tokens.all}`
      const call = { headers: { authorization }, sent: 'with the scheme bEARER' }
      const answered = await session.list(list, { limit: '1' }, call)
      hold(answered.status !== 401, 'the status must not be 401', answered)
    },
  },
  {
    id: 'authorization.scope',
    says: 'A list refuses a token without its scope, by whichever filter.',
    source: contract('5'),
    checkList: async ({ session }, list) =>
      isClosed(session, list, await tokenWithout(session, list.scope)),
  },
  {
    id: 'authorization.reads-scope',
    says: 'A single read refuses a token without its scope.',
    source: contract('5'),
    checkRead: async ({ session }, { list }) =>
      isReadClosed(session, list, await tokenWithout(session, list.scope)),
  },
  {
    id: 'authorization.scope-challenge',
    says: 'Without the scope the answer is 403 with insufficient_scope in WWW-Authenticate.',
    source: rfc(6750, '3.1'),
    checkList: async ({ session }, list) => {
      const token = await tokenWithout(session, list.scope)
      const answered = await session.list(list, {}, { token })
      holdStatus(answered, 403)
      challenges(answered, 'insufficient_scope')
    },
  },
  {
    id: 'authorization.fee-required',
    says: 'The fee operation without an Authorization header is refused.',
    source: contract('5'),
    check: async ({ session, allowFees }) => {
      need(allowFees, 'creating fees was not allowed (--allow-fees)')
      const call = { method: 'POST', body: '{}', token: null }
      const answered = await session.call(feeOperation.path, call)
      const isUnauthorized = [401, 403].includes(answered.status)
      hold(isUnauthorized, 'it must be refused before its body is read', answered)
    },
  },
  {
    id: 'authorization.fee-scope',
    says: 'The fee operation answers 403 to a token without its scope.',
    source: guide('403 Forbidden'),
    check: async ({ session, allowFees }) => {
      need(allowFees, 'creating fees was not allowed (--allow-fees)')
      const token = await tokenWithout(session, feeOperation.scope)
      const call = { method: 'POST', body: '{}', token }
      holdStatus(await session.call(feeOperation.path, call), 403)
    },
  },
]

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
async function tokenWithout({ tokens }: Session, missing: string): Promise<string> {
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
