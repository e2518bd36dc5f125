import { isUtf8 } from 'node:buffer'
import { parseJson, readBody, systemTime } from '@bursar/base'
import { NoAnswer, NotTestable, need, Unreachable } from '../verdicts.ts'
import { verifyLimits } from '../verify-limits.ts'

export type Call = {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | URLSearchParams | FormData
  /** What a report says of the headers and the body, which it does not show. */
  readonly sent?: string
}

/** A request and its answer. */
export type Exchange = {
  /** Method and URL, without headers and body. */
  readonly request: string
  readonly sent?: string
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** The parsed JSON body, or undefined if it is not JSON. */
  readonly body: unknown
}

export type Send = (url: string, call?: Call) => Promise<Exchange>

export type Fetch = (url: string, init: RequestInit) => Promise<Response>

export type SendOptions = {
  readonly fetch: Fetch
  /** Ends the run. */
  readonly run: AbortSignal
  /** Takes every answer and every request without one. */
  readonly observe: (seen: Exchange | NoAnswer) => void
}

/**
 * Sends requests until the run ends. Each has a time limit, and its answer a size limit. A path
 * that failed a few times is not requested again, since each failure may take the whole time.
 */
export function openSend(options: SendOptions): Send {
  const failures = new Map<string, NoAnswer[]>()
  const exchange = async (url: string, call: Call): Promise<Exchange> => {
    const failed = failures.get(placeOf(url)) ?? []
    const [first] = failed
    if (first !== undefined && failed.length >= verifyLimits.failuresMax) throw first
    try {
      const answered = await exchangeOf(url, call, options)
      options.observe(answered)
      return answered
    } catch (error) {
      if (error instanceof NoAnswer) {
        options.observe(error)
        failures.set(placeOf(url), [...failed, error])
      }
      throw error
    }
  }
  const send = async (url: string, call: Call, retries: number): Promise<Exchange> => {
    const answered = await exchange(url, call)
    const waitSeconds = Number(answered.headers.get('retry-after') ?? Number.NaN)
    const isLimited = answered.status === 429 && waitSeconds <= verifyLimits.retryAfterSecondsMax
    if (!isLimited || retries === 0) {
      need(answered.status !== 429, 'the server limits the requests of this client (HTTP 429)')
      return answered
    }
    await systemTime.pause(waitSeconds * 1000)
    return send(url, call, retries - 1)
  }
  return (url, call = {}) => send(url, call, verifyLimits.retriesMax)
}

/** The URL without its query and without the id of a record. */
function placeOf(url: string): string {
  const { origin, pathname } = new URL(url)
  return `${origin}${pathname.replace(/[0-9a-f-]{36}$/i, 'id')}`
}

async function exchangeOf(url: string, call: Call, { fetch, run }: SendOptions): Promise<Exchange> {
  const { sent, ...about } = call
  const request = `${call.method ?? 'GET'} ${url}`
  const asked = { request, ...(sent !== undefined && { sent }) }
  using deadline = systemTime.deadline(verifyLimits.timeoutMs, run)
  const { signal } = deadline
  // A redirect could carry the token to another host.
  const init = { ...about, signal, redirect: 'manual' } as const
  try {
    const response = await fetch(url, init)
    const bytes = await readBody(response, verifyLimits.answerBytesMax)
    if (bytes === undefined) {
      const bound = verifyLimits.answerBytesMax / 1024 / 1024
      throw new NoAnswer('incomplete', `the answer has more than ${bound} MiB`, asked)
    }
    return decoded(asked, response, bytes)
  } catch (error) {
    if (error instanceof NoAnswer) throw error
    if (run.aborted) throw new NotTestable('the time for the run is over')
    if (signal.aborted) {
      throw new NoAnswer(
        'incomplete',
        `no answer came within ${verifyLimits.timeoutMs / 1000} s`,
        asked,
      )
    }
    const code = codeOf(error)
    const reason = unreachable(code, new URL(url))
    if (reason !== undefined) throw new Unreachable(reason)
    const why = `(${code ?? 'unknown fault'})`
    if (/^Z_|^ERR_(BROTLI|ZSTD)/.test(code ?? '')) {
      const says = `the answer cannot be decoded as its Content-Encoding says ${why}`
      throw new NoAnswer('undecodable', says, asked)
    }
    throw new NoAnswer('incomplete', `the connection broke off ${why}`, asked)
  }
}

/** The body of an answer that says it is JSON must be JSON in UTF-8, not nested too deeply. */
function decoded(
  asked: Pick<Exchange, 'request' | 'sent'>,
  { status, headers }: Response,
  bytes: Buffer,
): Exchange {
  const text = bytes.toString('utf8')
  const body = parseJson(text)
  const isJson = /^application\/([\w.-]+\+)?json\b/.test(headers.get('content-type') ?? '')
  const fail = (says: string, seen: { readonly text?: string }): never => {
    throw new NoAnswer('undecodable', says, { ...asked, status, ...seen })
  }
  if (isJson && (bytes.length > 0 || status === 200)) {
    if (!isUtf8(bytes)) fail('the answer is not text in UTF-8', {})
    if (body === undefined) fail('the answer is not JSON', { text })
  }
  // The report would have to parse it again.
  if (!isShallow(body)) fail(`the answer is nested deeper than ${verifyLimits.depthMax} levels`, {})
  return { ...asked, status, headers, text, body }
}

/** Comparing JSON that is nested very deeply could exhaust the stack. */
function isShallow(body: unknown, depth = 0): boolean {
  if (typeof body !== 'object' || body === null) return true
  if (depth === verifyLimits.depthMax) return false
  return Object.values(body).every((inner) => isShallow(inner, depth + 1))
}

/** The sentence for a fault of the network or of TLS, or undefined if the server broke off. */
function unreachable(code: string | undefined, { host, hostname }: URL): string | undefined {
  if (code === undefined) return undefined
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') {
    return `the host name ${hostname} cannot be resolved; check its spelling`
  }
  if (['ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH', 'UND_ERR_CONNECT_TIMEOUT'].includes(code)) {
    return `${host} cannot be reached (${code}); check that the server runs there`
  }
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') {
    return `the certificate of ${host} is for another name (${code}); check the host in the URL`
  }
  if (code === 'CERT_HAS_EXPIRED') {
    return `the certificate of ${host} has expired (${code}); renew it, or correct the clock here`
  }
  if (code === 'CERT_NOT_YET_VALID') {
    return `the certificate of ${host} is not valid yet (${code}); check the clocks of both machines`
  }
  if (/CERT|SIGNATURE|ISSUER/.test(code)) {
    return `the certificate of ${host} is not trusted (${code}); name its authority in NODE_EXTRA_CA_CERTS`
  }
  if (/SSL|TLS|EPROTO/.test(code)) {
    return `${host} does not speak TLS as expected (${code}); check http or https in the URL`
  }
  return undefined
}

/** `fetch` wraps the fault of the socket, and several addresses give an AggregateError. */
function codeOf(error: unknown): string | undefined {
  for (let at: unknown = error; at instanceof Error; at = at.cause) {
    if ('code' in at && typeof at.code === 'string') return at.code
  }
  return undefined
}
