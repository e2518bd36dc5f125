import { setTimeout as delay } from 'node:timers/promises'
import { readBody } from '../platform/bounded-fetch.ts'
import { limits } from '../platform/limits.ts'
import { parseJson } from '../platform/parse-json.ts'
import { Broken, need, Unreachable } from './verdicts.ts'

export type Call = {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | URLSearchParams | FormData
}

/** A request and its answer. */
export type Exchange = {
  /** Method and URL, without headers and body. */
  readonly request: string
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** The parsed JSON body, or undefined. */
  readonly body: unknown
}

export type Send = (url: string, call?: Call) => Promise<Exchange>

/** Sends requests until `signal` aborts. Each has a time limit, and its answer a size limit. */
export function openSend(signal: AbortSignal, requestTimeoutMs: number): Send {
  const send = async (url: string, call: Call, retries: number): Promise<Exchange> => {
    const exchange = await exchangeOf(url, call, signal, requestTimeoutMs)
    const waitSeconds = Number(exchange.headers.get('retry-after') ?? Number.NaN)
    const isLimited = exchange.status === 429 && waitSeconds <= limits.verifyRetryAfterSecondsMax
    if (!isLimited || retries === 0) {
      need(exchange.status !== 429, 'the server limits the requests of this client (HTTP 429)')
      return exchange
    }
    await delay(waitSeconds * 1000)
    return send(url, call, retries - 1)
  }
  return (url, call = {}) => send(url, call, limits.verifyRetriesMax)
}

async function exchangeOf(
  url: string,
  call: Call,
  run: AbortSignal,
  timeoutMs: number,
): Promise<Exchange> {
  const request = `${call.method ?? 'GET'} ${url}`
  const signal = AbortSignal.any([run, AbortSignal.timeout(timeoutMs)])
  // A redirect could carry the token to another host.
  const init = { ...call, signal, redirect: 'manual' } as const
  try {
    const response = await fetch(url, init)
    const body = await readBody(response, limits.verifyAnswerBytesMax)
    if (body === undefined) {
      const bound = limits.verifyAnswerBytesMax / 1024 / 1024
      throw new Broken(`the answer has more than ${bound} MiB`, { request })
    }
    const text = body.toString('utf8')
    const { status, headers } = response
    return { request, status, headers, text, body: shallow(parseJson(text)) }
  } catch (error) {
    if (error instanceof Broken) throw error
    if (signal.aborted) throw new Broken(`no answer came within ${timeoutMs / 1000} s`, { request })
    const reason = unreachable(error, new URL(url))
    if (reason !== undefined) throw new Unreachable(reason)
    throw new Broken(`the connection broke off (${codeOf(error) ?? 'unknown fault'})`, { request })
  }
}

/** Undefined for JSON so deep that comparing it could exhaust the stack. */
function shallow(body: unknown): unknown {
  let level: readonly unknown[] = [body]
  for (let depth = 0; depth < limits.verifyDepthMax && level.length > 0; depth += 1) {
    level = level.flatMap((value) =>
      typeof value === 'object' && value !== null ? Object.values(value) : [],
    )
  }
  return level.length === 0 ? body : undefined
}

/** The sentence for a fault of the network or of TLS, or undefined if the server broke off. */
function unreachable(error: unknown, { host, hostname }: URL): string | undefined {
  const code = codeOf(error)
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
