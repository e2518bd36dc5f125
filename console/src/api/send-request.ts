import { fetchOrLose, readProblem } from '../api-problem.ts'
import { base } from '../page-settings.ts'
import type { Session } from '../session/console-session.ts'
import { SignInEnded } from '../session/console-session.ts'

type Options = {
  readonly signal?: AbortSignal | undefined
  /** Why a person looks at a record in full. The server's log keeps it. */
  readonly reason?: string | undefined
  /** A JSON body; the request is a POST then. */
  readonly body?: object
}

/** Calls the API. Rejects with an ApiProblem, with SignInEnded, or with a lost connection. */
export async function request(
  session: Session,
  path: string,
  { signal, reason, body }: Options = {},
): Promise<Response> {
  const response = await fetchOrLose(base + path, {
    headers: {
      authorization: `Bearer ${await session.token()}`,
      ...(reason !== undefined && { 'access-reason': encodeURIComponent(reason) }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    signal,
    ...(body !== undefined && { method: 'POST', body: JSON.stringify(body) }),
  })
  if (response.ok) return response
  if (response.status === 401) throw new SignInEnded('Your sign-in has ended. Sign in again.')
  throw await readProblem(response)
}

export async function requestJson<T>(
  session: Session,
  path: string,
  options: Options = {},
): Promise<T> {
  const response = await request(session, path, options)
  return await response.json()
}
