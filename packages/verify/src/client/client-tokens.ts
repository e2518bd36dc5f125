import { parseJson } from '@bursar/base'
import { memberOf, textOf } from '../json.ts'
import { redact } from '../redact.ts'
import { NoAnswer, NotTestable, Unreachable } from '../verdicts.ts'
import type { Exchange, Send } from './exchange.ts'

export type Credentials = { readonly id: string; readonly secret: string }

/** The tokens of one client. */
export type Tokens = {
  /** A token with every scope of the client. */
  readonly all: string
  /** The scopes of that token, if the endpoint names them. */
  readonly scopes: readonly string[] | undefined
  /** Asks the token endpoint, with the credentials by Basic unless `call` has its own. */
  ask(
    form: Readonly<Record<string, string>>,
    by?: 'basic' | 'body' | 'multipart',
  ): Promise<Exchange>
  /** A token with these scopes only, or undefined if the endpoint issues none. */
  withScopes(scopes: readonly string[]): Promise<string | undefined>
  /** RFC 7662, where the target has it. */
  introspect(token: string): Promise<Exchange>
}

/** RFC 6750, section 2.1: other text fits in no Authorization header. */
const bearerForm = /^[\w.~+/-]+=*$/

/** The token in an answer, or undefined. */
export function tokenOf({ body }: Exchange): string | undefined {
  const token = textOf(body, 'access_token') ?? ''
  return bearerForm.test(token) ? token : undefined
}

/** Gets the first token. Throws `Unreachable` if there is none, since nothing can be checked. */
export async function openTokens(
  send: Send,
  tokenUrl: string,
  client: Credentials,
): Promise<Tokens> {
  const ask = askerOf(send, tokenUrl, client)
  const first = await ask({}).catch(refused)
  const all = tokenOf(first)
  if (first.status !== 200 || all === undefined) throw new Unreachable(reasonOf(first, tokenUrl))
  const scope = textOf(first.body, 'scope')
  return {
    all,
    scopes: scope?.split(' '),
    ask,
    withScopes: async (wanted) => {
      const answered = await ask({ scope: wanted.join(' ') })
      const granted = textOf(answered.body, 'scope')?.split(' ') ?? []
      const isMore = granted.some((each) => !wanted.includes(each))
      return answered.status === 200 && !isMore ? tokenOf(answered) : undefined
    },
    introspect: (token) => {
      const body = new URLSearchParams({ token })
      const headers = { authorization: basicOf(client) }
      return send(tokenUrl.replace(/\/token$/, '/introspect'), { method: 'POST', headers, body })
    },
  }
}

/** RFC 6749, section 2.3.1: both parts are form-encoded. */
export const basicOf = ({ id, secret }: Credentials): string =>
  `Basic ${btoa(`${encodeURIComponent(id)}:${encodeURIComponent(secret)}`)}`

export function askerOf(send: Send, tokenUrl: string, client: Credentials): Tokens['ask'] {
  return (form, by = 'basic') => {
    const fields = {
      grant_type: 'client_credentials',
      ...(by !== 'basic' && { client_id: client.id, client_secret: client.secret }),
      ...form,
    }
    const headers = by === 'basic' ? { authorization: basicOf(client) } : {}
    const body = by === 'multipart' ? new FormData() : new URLSearchParams()
    for (const [name, value] of Object.entries(fields)) body.set(name, value)
    const given = Object.entries(form).map(([name, value]) => `${name}=${value}`)
    const sent = [`credentials by ${by}`, ...given].join(', ')
    return send(tokenUrl, { method: 'POST', headers, body, sent })
  }
}

function refused(error: unknown): never {
  if (error instanceof NoAnswer) {
    throw new Unreachable(`${error.evidence.request}: ${error.message}`)
  }
  if (error instanceof NotTestable) throw new Unreachable(error.message)
  throw error
}

function reasonOf({ status, text }: Exchange, tokenUrl: string): string {
  const error = memberOf(parseJson(text), 'error')
  if (status === 401 || error === 'invalid_client') {
    return `the token endpoint ${tokenUrl} refuses the client; check its id and secret`
  }
  if (status === 404 || status === 405) {
    return `there is no token endpoint at ${tokenUrl} (HTTP ${status}); name it with --token-url`
  }
  return `the token endpoint ${tokenUrl} answers HTTP ${status} and no token: ${redact(text, [])}`
}
