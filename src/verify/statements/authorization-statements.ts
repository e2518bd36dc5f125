import type { Statement } from '../check-statement.ts'
import type { Session } from '../client/client-session.ts'
import type { Exchange } from '../client/exchange.ts'
import { feeOperation, type List, lists, type SingleRead } from '../contract.ts'
import { pathIdOf } from '../json.ts'
import { contract, guide, rfc } from '../source.ts'
import { hold, ifNotTestable, need } from '../verdicts.ts'
import { type Way, waysToAny } from '../ways.ts'
import { cursorOf } from './cursor-statements.ts'

/** Contract, section 5: every request carries a bearer token with the operation's scope. */
export const authorizationStatements: readonly Statement[] = [
  {
    id: 'authorization.required',
    says: 'A list without an Authorization header is refused, by whichever filter.',
    source: contract('5'),
    checkList: async ({ session }, list) => {
      for (const { name, query } of await waysOf(session, list)) {
        const answered = await session.list(list, query, { token: null })
        hold(isClosed(answered), `it must be refused by ${name}`, answered)
      }
    },
  },
  {
    id: 'authorization.reads-required',
    says: 'A single read without an Authorization header is refused.',
    source: contract('5'),
    checkRead: async ({ session }, read) => {
      for (const path of await pathsOf(session, read)) {
        const answered = await session.call(path, { token: null })
        hold(isClosed(answered), 'it must be refused', answered)
      }
    },
  },
  {
    id: 'authorization.challenge',
    says: 'Without a header the answer is 401 with WWW-Authenticate Bearer and no error code.',
    source: rfc(6750, '3'),
    check: async ({ session }) => {
      const answered = await session.call(lists[0]?.path ?? '', { token: null })
      hold(answered.status === 401, 'the status must be 401', answered)
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
      hold(answered.status === 401, 'the status must be 401', answered)
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
    checkList: async ({ session }, list) => {
      const token = await tokenWithout(session, list.scope)
      for (const { name, query } of await waysOf(session, list)) {
        const answered = await session.list(list, query, { token })
        hold(isClosed(answered), `it must be refused by ${name}`, answered)
      }
    },
  },
  {
    id: 'authorization.reads-scope',
    says: 'A single read refuses a token without its scope.',
    source: contract('5'),
    checkRead: async ({ session }, read) => {
      const token = await tokenWithout(session, read.list.scope)
      for (const path of await pathsOf(session, read)) {
        const answered = await session.call(path, { token })
        hold(isClosed(answered), 'it must be refused', answered)
      }
    },
  },
  {
    id: 'authorization.scope-challenge',
    says: 'Without the scope the answer is 403 with insufficient_scope in WWW-Authenticate.',
    source: rfc(6750, '3.1'),
    checkList: async ({ session }, list) => {
      const token = await tokenWithout(session, list.scope)
      const answered = await session.list(list, {}, { token })
      hold(answered.status === 403, 'the status must be 403', answered)
      challenges(answered, 'insufficient_scope')
    },
  },
  {
    id: 'authorization.fee-required',
    says: 'The fee operation without an Authorization header is refused.',
    source: contract('5'),
    check: async ({ session, allowFees }) => {
      need(allowFees, 'creating fees was not allowed (--allow-fees)')
      const answered = await session.call(feeOperation.path, {
        method: 'POST',
        body: '{}',
        token: null,
      })
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
      const answered = await session.call(feeOperation.path, { method: 'POST', body: '{}', token })
      hold(answered.status === 403, 'the status must be 403', answered)
    },
  },
]

/** A server that fails shows nothing either. */
const isClosed = ({ status }: Exchange): boolean => status >= 400

/** The list itself, its second page, and every way to a record that it has. */
async function waysOf(session: Session, list: List): Promise<readonly Way[]> {
  const sample = await session.sample(list).catch(ifNotTestable)
  const page_cursor = await cursorOf(session, list).catch(ifNotTestable)
  return [
    { name: 'no filter', query: {} },
    ...(page_cursor === undefined ? [] : [{ name: 'page_cursor', query: { page_cursor } }]),
    ...waysToAny(sample?.items ?? [], list),
  ]
}

/** A record that exists, where the list shows one; with and without the flag for deleted ones. */
async function pathsOf(session: Session, { list }: SingleRead): Promise<readonly string[]> {
  const sample = await session.sample(list).catch(ifNotTestable)
  const [item] = sample?.items ?? []
  const path = `${list.path}/${item === undefined ? session.newId() : pathIdOf(item)}`
  return list.deletedFlag === undefined ? [path] : [path, `${path}?${list.deletedFlag}=true`]
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
