import { fetchOrLose, readProblem } from '../api-problem.ts'
import { base } from '../page-settings.ts'
import type { Session } from './console-session.ts'
import { SignInEnded } from './console-session.ts'
import { describeStaff } from './describe-staff.ts'
import { openTokens } from './open-tokens.ts'

type Credentials = { readonly id: string; readonly secret: string; readonly name?: string }

/** Signs in with a client's id and secret. Both stay in memory, for new tokens. */
export async function signInAsClient({ id, secret, name = id }: Credentials): Promise<Session> {
  const authorization = `Basic ${btoa(`${formEncoded(id)}:${formEncoded(secret)}`)}`
  const post = async (path: string, form: Readonly<Record<string, string>>) => {
    const response = await fetchOrLose(`${base}/oauth2/${path}`, {
      method: 'POST',
      headers: { authorization },
      body: new URLSearchParams(form),
      // Otherwise the browser would ask for a name and a password itself after a 401.
      credentials: 'omit',
    })
    if (response.ok) return await response.json()
    if (response.status === 401) throw new SignInEnded('The client id or its secret is wrong.')
    throw await readProblem(response)
  }
  const token = await requestToken(post)
  const session = {
    name,
    key: id,
    ...openTokens({ text: token.text, renewAt: token.renewAt }, () => requestToken(post)),
  }
  if (token.scope.split(' ').some((scope) => scope.startsWith('ingest:'))) {
    return { ...session, isStaff: true, ...(await describeStaff(token.text)) }
  }
  const { customer_id: customerId } = await post('introspect', { token: token.text })
  const scopes = new Set(token.scope.split(' '))
  return { ...session, isStaff: false, isPerson: false, customerId, scopes }
}

type Post = (path: string, form: Readonly<Record<string, string>>) => Promise<Answered>
type Answered = {
  readonly access_token: string
  readonly expires_in: number
  readonly scope: string
  readonly customer_id: string
}

async function requestToken(post: Post) {
  const { access_token, expires_in, scope } = await post('token', {
    grant_type: 'client_credentials',
  })
  // Renewed early, so that no request meets the end of its life.
  return { text: access_token, scope, renewAt: Date.now() + (expires_in - 30) * 1000 }
}

/** RFC 6749 section 2.3.1 encodes id and secret like a form. */
const formEncoded = (text: string): string => new URLSearchParams({ '': text }).toString().slice(1)
