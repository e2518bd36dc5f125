type CorsHeaders = Readonly<Record<string, string>>

/** By which headers a page of another origin may read an answer. No answer passes it by. */
export type Cors = {
  /** The headers of every answer, for the origin that its request names. */
  headers(origin: string | undefined): CorsHeaders
  /** The same for a request whose head was not read to its end, of which these bytes are known. */
  headersOfBroken(packet: Buffer | undefined): CorsHeaders
  /** The headers in addition that answer a preflight. Undefined where no origin is configured. */
  readonly preflight: CorsHeaders | undefined
}

/**
 * The protocol of the Fetch standard, section 3.2, without credentials. A plugin of the framework
 * would add nothing to answers that the framework does not give: to broken requests, and to those
 * that are refused for their path or their headers.
 */
export function openCors(origins: readonly string[]): Cors {
  if (origins.length === 0) {
    return { headers: () => none, headersOfBroken: () => none, preflight: undefined }
  }
  const known = new Set(origins)
  const headers = (origin: string | undefined): CorsHeaders => {
    const allowed = known.has('*') ? '*' : origin
    return allowed === undefined || !known.has(allowed)
      ? { vary: VARY }
      : {
          vary: VARY,
          'access-control-allow-origin': allowed,
          'access-control-expose-headers': exposed,
        }
  }
  const only = known.size === 1 ? origins[0] : undefined
  return {
    headers,
    // The origin may be in a packet before. Where there is but one, a browser compares it.
    headersOfBroken: (packet) => headers(originIn(packet) ?? only),
    preflight: {
      'access-control-allow-methods': 'GET, HEAD, POST',
      'access-control-allow-headers':
        'authorization, content-type, if-none-match, traceparent, tracestate, x-request-id',
      'access-control-max-age': '600',
    },
  }
}

const none: CorsHeaders = {}

/** What every answer depends on, where pages of other origins may read it. */
const VARY = 'accept-encoding, origin'

const exposed = [
  'allow',
  'as-of',
  'etag',
  'ratelimit-limit',
  'ratelimit-remaining',
  'ratelimit-reset',
  'retry-after',
  'www-authenticate',
  'x-ignored-parameters',
  'x-joined-parameters',
  'x-request-id',
].join(', ')

function originIn(packet: Buffer | undefined): string | undefined {
  const text = packet?.toString('latin1') ?? ''
  const at = text.toLowerCase().indexOf(ORIGIN)
  if (at < 0) return undefined
  const end = text.indexOf('\n', at + 1)
  return text.slice(at + ORIGIN.length, end < 0 ? text.length : end).trim()
}

const ORIGIN = '\norigin:'
