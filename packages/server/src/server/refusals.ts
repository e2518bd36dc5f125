import { isIPv6 } from 'node:net'
import { type Problem, problem } from '@bursar/contract'
import type { FastifyRequest } from 'fastify'
import { serverLimits } from '../limits.ts'
import { pathRefusal } from './bound-request.ts'

/** Why a request is refused for its headers alone. Route and method come before its body. */
export function headerRefusal(
  request: FastifyRequest,
  path: string,
  unknownRoute: (path: string) => Problem | undefined,
): Problem | undefined {
  const { headers, method, raw } = request
  // Node before version 26 drops the headers beyond its limit instead of refusing the request.
  if (raw.rawHeaders.length > 2 * serverLimits.headersMax) return headersTooLarge()
  const fault = hostFault(raw.rawHeaders, raw.httpVersion)
  if (fault !== undefined) return problem('malformed', fault)
  if (raw.httpVersion === '1.1' && headers.expect !== undefined && !expectsContinue(headers)) {
    return problem('expectationFailed', 'the Expect header must be 100-continue or absent')
  }
  const tooLong = pathRefusal(request.originalUrl)
  if (tooLong !== undefined) return tooLong
  // The router has decoded this path already, so decoding cannot fail here.
  if (request.is404) return unknownRoute(decodeURIComponent(path))
  // The body of a read is ignored, whatever it is.
  if (method === 'GET' || method === 'HEAD') return undefined
  const { bodyLimit, config } = request.routeOptions
  return bodyFault(headers, bodyLimit, config.takesStream === true)
}

type Headers = FastifyRequest['headers']

/** Whether the caller waits for 100 Continue before it sends the body. */
export const expectsContinue = ({ expect }: Headers): boolean =>
  expect !== undefined && /(?:^|\W)100-continue(?:$|\W)/i.test(expect)

function bodyFault(headers: Headers, bytesMax: number, takesGzip: boolean): Problem | undefined {
  const coding = headers['content-encoding'] ?? ''
  const isLong = coding.length > serverLimits.contentTypeLengthMax
  const codings = isLong ? ['unknown'] : coding.toLowerCase().split(',')
  const known = ['identity', '', ...(takesGzip ? ['gzip'] : [])]
  if (codings.some((coding) => !known.includes(coding.trim()))) {
    const detail = takesGzip
      ? 'the only Content-Encoding of a stream is gzip'
      : 'the body must not be compressed; send it without Content-Encoding'
    const accepted = takesGzip ? 'gzip' : 'identity'
    return problem('unsupportedCoding', detail, { headers: { 'accept-encoding': accepted } })
  }
  const transfer = headers['transfer-encoding']
  if (transfer !== undefined && transfer.trim().toLowerCase() !== 'chunked') {
    return problem('notImplemented', 'the only Transfer-Encoding of a body is chunked')
  }
  return Number(headers['content-length'] ?? 0) > bytesMax ? bodyTooLarge(bytesMax) : undefined
}

export const bodyTooLarge = (bytesMax: number = serverLimits.bodyBytesMax): Problem =>
  problem('tooLarge', `the body must have at most ${bytesMax} bytes`)

export const headersTooLarge = (): Problem =>
  problem(
    'headersTooLarge',
    `the request line and headers must have at most ${serverLimits.headerBytesMax} bytes and ${serverLimits.headersMax} headers`,
  )

/** RFC 9112 section 3.2. Node keeps the first of several Host headers in `headers`. */
function hostFault(rawHeaders: readonly string[], httpVersion: string): string | undefined {
  let host: string | undefined
  for (let at = 0; at < rawHeaders.length; at += 2) {
    if (rawHeaders[at]?.length !== 4 || rawHeaders[at]?.toLowerCase() !== 'host') continue
    if (host !== undefined) return 'the request must have one Host header'
    host = rawHeaders[at + 1] ?? ''
  }
  if (host === undefined) {
    return httpVersion === '1.1' ? 'the request must have a Host header' : undefined
  }
  return isHost(host)
    ? undefined
    : 'the Host header must be a host name or an address, and a port where it is not the usual one'
}

/** Nearly every request names the same host as the one before. */
let lastHost: string | undefined

function isHost(host: string): boolean {
  if (host === lastHost) return true
  if (host.length > HOST_LENGTH_MAX) return false
  const [, address, name, port] = hostForm.exec(host) ?? []
  const isName = name !== undefined && !(name.includes('%') && /%(?![0-9a-f]{2})/i.test(name))
  const isNamed = address === undefined ? isName : isIPv6(address)
  const isValid = isNamed && Number(port ?? 0) <= 65_535
  if (isValid) lastHost = host
  return isValid
}

/** A DNS name has at most 253 characters. */
const HOST_LENGTH_MAX = 261
const hostForm = /^(?:\[([^\]]*)\]|([\w.~!$&'()*+,;=%-]+))(?::(\d{0,5}))?$/
