import type { OutgoingHttpHeader, ServerResponse } from 'node:http'
import type { Answer, Trace } from '@bursar/contract'

export type Headers = Record<string, OutgoingHttpHeader | undefined>

/**
 * Writes the head in one piece and the body behind it. The framework would look at every header, at
 * the body and at its type once more, and run its hooks.
 */
export function send(response: ServerResponse, answer: Answer, headers: Headers): void {
  const { status, body, sent } = answer
  const length = lengthOf(answer, response)
  if (length !== undefined) headers['content-length'] = length
  response.writeHead(status, headers)
  if (sent !== undefined) response.on('finish', sent)
  response.end(body)
}

/** Closes the connection instead of an answer, or in the middle of its body. */
export function breakOff(
  response: ServerResponse,
  { status, body = '', sent }: Answer,
  headers: Headers,
  fault: 'cut' | 'truncated',
): void {
  const bytes = Buffer.from(body)
  response.statusCode = status
  if (fault === 'cut' || bytes.length === 0 || response.req.method === 'HEAD') response.destroy()
  else {
    response.writeHead(status, { ...headers, 'content-length': bytes.length })
    response.write(bytes.subarray(0, Math.floor(bytes.length / 2)), () => response.destroy())
  }
  sent?.()
}

/** The headers of an answer. Its own come last: they may replace the common ones. */
export function headersOf(
  answer: Answer,
  common: Headers,
  { limitHeaders, ignoredParameters, joinedParameters }: Trace,
): Headers {
  const headers = { ...common }
  // Without a body, as in a 304, there is no content type.
  if (answer.body !== undefined) headers['content-type'] = 'application/json'
  if (limitHeaders !== undefined) Object.assign(headers, limitHeaders)
  if (ignoredParameters !== undefined) {
    headers['x-ignored-parameters'] = ignoredParameters.join(', ')
  }
  if (joinedParameters !== undefined) headers['x-joined-parameters'] = joinedParameters.join(', ')
  return Object.assign(headers, answer.headers)
}

/** RFC 9110 section 8.6: a 204 has no length, and that of a 304 would be the page's. */
function lengthOf({ status, body }: Answer, { req }: ServerResponse): number | undefined {
  if (body !== undefined) return Buffer.byteLength(body)
  return status === 204 || status === 304 || req.method === 'HEAD' ? undefined : 0
}
