import { type Checks, type Context, once } from '../check-statement.ts'
import { askerOf, basicOf, tokenOf } from '../client/client-tokens.ts'
import type { Exchange } from '../client/exchange.ts'
import { lists } from '../contract.ts'
import { memberOf, textOf } from '../json.ts'
import { hold, need } from '../verdicts.ts'
import { holdCaching } from './caching-statements.ts'

/** The token endpoint: RFC 6749 with client credentials. */
export const tokenStatements: Checks = {
  'tokens.body': once(async ({ session }) => {
    for (const by of ['body', 'multipart'] as const) {
      const answered = await session.tokens.ask({}, by)
      const how = by === 'body' ? 'an urlencoded form' : 'a multipart form'
      hold(
        answered.status === 200 && tokenOf(answered) !== undefined,
        `${how} is refused`,
        answered,
      )
    }
  }),
  'tokens.answer': once(async ({ session }) => {
    const answered = await session.tokens.ask({})
    const type = textOf(answered.body, 'token_type')?.toLowerCase()
    hold(type === 'bearer', 'token_type must be bearer', answered)
    const life = memberOf(answered.body, 'expires_in')
    hold(Number.isInteger(life) && Number(life) > 0, 'expires_in must be a number', answered)
    hold(textOf(answered.body, 'scope') !== undefined, 'scope is missing', answered)
    holdCaching(answered, 'no-store')
  }),
  'tokens.wrong-secret': once(async ({ send, tokenUrl, client, session }) => {
    const secret = `wrong_${session.newId()}`
    const wrong = await askerOf(send, tokenUrl, { ...client, secret })({})
    isOAuthError(wrong, 401, 'invalid_client')
    const challenge = wrong.headers.get('www-authenticate') ?? ''
    hold(/^basic\b/i.test(challenge), 'WWW-Authenticate must be Basic after Basic', wrong)
    const unknown = await askerOf(send, tokenUrl, { id: `unknown_${session.newId()}`, secret })({})
    hold(
      unknown.status === wrong.status && unknown.text === wrong.text,
      'an unknown client is answered otherwise than a wrong secret',
      unknown,
    )
  }),
  'tokens.two-methods': once(async ({ send, tokenUrl, client }) => {
    const fields = { grant_type: 'client_credentials', client_id: client.id }
    const body = new URLSearchParams({ ...fields, client_secret: client.secret })
    const headers = { authorization: basicOf(client) }
    const answered = await send(tokenUrl, { method: 'POST', headers, body })
    isOAuthError(answered, 400, 'invalid_request')
  }),
  'tokens.grant-type': once(async ({ session }) => {
    const answered = await session.tokens.ask({ grant_type: 'password' })
    isOAuthError(answered, 400, 'unsupported_grant_type')
  }),
  'tokens.scope': once(async (context) => {
    const scope = ownScope(context)
    const answered = await context.session.tokens.ask({ scope: `${scope} no:such_scope` })
    hold(answered.status === 200, 'the request is refused', answered)
    const granted = textOf(answered.body, 'scope')
    hold(granted === scope, `the scope must be '${scope}'`, answered)
  }),
  'tokens.unknown-scope': once(async ({ session }) =>
    isOAuthError(await session.tokens.ask({ scope: 'no:such_scope' }), 400, 'invalid_scope'),
  ),
}

/** A scope of the contract that the client has. */
function ownScope({ session }: Context): string {
  const own = lists.map(({ scope }) => scope).find(session.hasScope)
  need(own !== undefined, 'the client has no read scope')
  return own
}

function isOAuthError(answered: Exchange, status: number, error: string): void {
  const isIt = answered.status === status && textOf(answered.body, 'error') === error
  hold(isIt, `the answer must be ${status} with the error ${error}`, answered)
}
