import { randomUUID } from 'node:crypto'
import type { Exchange } from '../exchange.ts'
import { feePath, feeScope, type List, lists } from '../lists.ts'
import type { Session } from '../session.ts'
import type { Context, Statement } from '../statement.ts'
import { hold, isRefusal, need } from '../verdicts.ts'

/** Contract, section 5: every request carries a bearer token with the operation's scope. */
export const authorizationStatements: readonly Statement[] = [
  {
    id: 'authorization.required',
    says: 'A list without an Authorization header is refused.',
    source: 'contract',
    checkList: async (context, list) => {
      const answered = await context.session.call(list.path, { token: null })
      hold(isRefusal(answered), 'it must be refused', answered)
    },
  },
  {
    id: 'authorization.challenge',
    says: 'Without a header the answer is 401 with WWW-Authenticate Bearer and no error code.',
    source: 'bursar',
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
    source: 'bursar',
    checkList: async ({ session }, list) => {
      const answered = await session.call(list.path, { token: altered(session.tokens.all) })
      hold(answered.status === 401, 'the status must be 401', answered)
      challenges(answered, 'invalid_token')
    },
  },
  {
    id: 'authorization.scheme',
    says: 'The scheme of the Authorization header is matched without regard to case.',
    source: 'bursar',
    checkList: async ({ session }, list) => {
      session.needScope(list.scope)
      const authorization = `bEARER ${session.tokens.all}`
      const answered = await session.list(list, { limit: '1' }, { headers: { authorization } })
      hold(answered.status !== 401, 'the status must not be 401', answered)
    },
  },
  {
    id: 'authorization.scope',
    says: 'A list refuses a token without its scope.',
    source: 'contract',
    checkList: async (context, list) => {
      const answered = await withoutScope(context, list)
      hold(isRefusal(answered), 'it must be refused', answered)
    },
  },
  {
    id: 'authorization.scope-challenge',
    says: 'Without the scope the answer is 403 with insufficient_scope in WWW-Authenticate.',
    source: 'bursar',
    checkList: async (context, list) => {
      const answered = await withoutScope(context, list)
      hold(answered.status === 403, 'the status must be 403', answered)
      challenges(answered, 'insufficient_scope')
    },
  },
  {
    id: 'authorization.fee-scope',
    says: 'The fee operation answers 403 to a token without its scope.',
    source: 'bursar',
    check: async ({ session, allowFees }) => {
      need(allowFees, 'creating fees was not allowed (--allow-fees)')
      const token = await tokenWithout(session, feeScope)
      const answered = await session.call(feePath, { method: 'POST', body: '{}', token })
      hold(answered.status === 403, 'the status must be 403', answered)
    },
  },
]

/** A request with a token for another scope of the client. */
async function withoutScope({ session }: Context, list: List): Promise<Exchange> {
  return session.list(list, {}, { token: await tokenWithout(session, list.scope) })
}

async function tokenWithout({ tokens }: Session, missing: string): Promise<string> {
  const scope = tokens.scopes?.find((own) => own !== missing)
  need(scope !== undefined, 'the client has no other scope')
  const token = await tokens.withScope(scope)
  need(token !== undefined, 'no token with one scope is issued')
  return token
}

function challenges(answered: Exchange, error: string): void {
  const challenge = answered.headers.get('www-authenticate') ?? ''
  hold(challenge.includes(`error="${error}"`), `WWW-Authenticate must have ${error}`, answered)
}

/** A JWT with another signature; an opaque token is replaced. */
function altered(token: string): string {
  const at = token.lastIndexOf('.')
  return at === -1 ? randomUUID() : `${token.slice(0, at + 1)}${'A'.repeat(86)}`
}
