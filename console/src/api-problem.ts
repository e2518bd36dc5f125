import { capital } from './values/labels.ts'

/** An answer of the API that is no success. */
export class ApiProblem extends Error {
  override readonly name = 'ApiProblem'
  readonly status: number
  readonly requestId: string | undefined

  constructor(status: number, detail: string, requestId: string | undefined) {
    super(detail)
    this.status = status
    this.requestId = requestId
  }
}

/** Nothing answers: no network, no server, or a proxy that has closed the connection. */
class ConnectionLost extends Error {
  override readonly name = 'ConnectionLost'

  constructor() {
    super('The server cannot be reached. Check the connection and try again.')
  }
}

/** `oauth4webapi` sets members that are undefined, which the type of fetch does not allow. */
type FetchOptions = Omit<RequestInit, 'body' | 'signal'> & {
  readonly body?: RequestInit['body'] | undefined
  readonly signal?: RequestInit['signal'] | undefined
}

/** As fetch, but a lost connection throws another error than a mistake of the program. */
export async function fetchOrLose(url: string, options: FetchOptions): Promise<Response> {
  const { body = null, signal = null } = options
  try {
    return await fetch(url, { ...options, body, signal })
  } catch (error) {
    throw error instanceof TypeError ? new ConnectionLost() : error
  }
}

/** Reads problem+json, or whatever a proxy has answered instead. */
export async function readProblem(response: Response): Promise<ApiProblem> {
  const text = await response.text()
  try {
    const { detail, error_description: description, request_id: id } = JSON.parse(text)
    return new ApiProblem(response.status, String(detail ?? description), id)
  } catch {
    return new ApiProblem(response.status, `the server answered ${response.status}`, undefined)
  }
}

/** A sentence for a person. */
export function messageOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error)
  const sentence = capital(message)
  return /[.!?]$/.test(sentence) ? sentence : `${sentence}.`
}

/** Whether a page failed because nothing answered. */
export const isOffline = (error: unknown): boolean => error instanceof ConnectionLost
