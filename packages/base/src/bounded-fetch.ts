export type BoundedRequest = Pick<RequestInit, 'method' | 'headers' | 'body'> & {
  /** Aborts the request. Give it the deadline: no other time limit applies. */
  readonly signal: AbortSignal
  readonly answerBytesMax: number
  /** By default a redirect counts as not reached; `manual` names its status. None is followed. */
  readonly redirect?: 'error' | 'manual'
}

/**
 * Sends one HTTP request and returns the body of a 2xx answer as text. Rejects with an Error whose
 * message may be logged: it starts with a verb and holds nothing of the URL or the answer.
 */
export async function fetchBounded(url: string, request: BoundedRequest): Promise<string> {
  const { answerBytesMax, ...init } = request
  const failWith = (reason: string) => (cause: unknown) => {
    throw new Error(init.signal.aborted ? 'did not answer in time' : reason, { cause })
  }
  // A redirect could carry the request's authorization to a host that nobody configured.
  const pending = fetch(url, { redirect: 'error', ...init })
  const response = await pending.catch(failWith('cannot be reached'))
  if (!response.ok) {
    await response.body?.cancel()
    throw new Error(`answered HTTP ${response.status}`)
  }
  const body = await readBody(response, answerBytesMax).catch(failWith('broke off its answer'))
  if (body === undefined) throw new Error(`answered more than ${answerBytesMax} bytes`)
  return body.toString('utf8')
}

/** Returns undefined for a body over the limit; leaving the loop closes the connection. */
export async function readBody(response: Response, bytesMax: number): Promise<Buffer | undefined> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength
    if (bytes > bytesMax) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}
