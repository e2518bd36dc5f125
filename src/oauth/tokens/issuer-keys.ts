import { createRemoteJWKSet, customFetch, type JSONWebKeySet, type JWTVerifyGetKey } from 'jose'
import type { Background } from '../../background.ts'
import { problem } from '../../contract/problem.ts'
import { fetchBounded } from '../../platform/bounded-fetch.ts'
import { limits } from '../../platform/limits.ts'
import type { Logger } from '../../platform/log.ts'
import { isSafeUrl, type TrustedIssuer } from '../../platform/settings/trusted-issuers.ts'
import { systemTime } from '../../platform/time.ts'

/** The public keys of one trusted issuer, refreshed in the background. */
export type IssuerKeys = {
  /** jose's key look-up. Throws a Problem 503 if the keys are unknown or too old. */
  readonly find: JWTVerifyGetKey
  /** Increases when the set of keys changes. */
  generation(): number
  /** Fetches the keys. Never rejects: on failure it keeps the known keys and logs the cause. */
  refresh(): Promise<void>
  close(): void
}

export type IssuerKeysDeps = {
  readonly issuer: TrustedIssuer
  readonly log: Logger
  readonly background: Background
}

/** Starts to fetch the keys without waiting: an issuer that is down must not delay the start. */
export function openIssuerKeys({ issuer, log, background }: IssuerKeysDeps): IssuerKeys {
  let known: { readonly text: string; readonly atMs: number } | undefined
  let generation = 0
  let isFailed = false

  // Answers a failed fetch with the known keys, which then serve on. A failure cools down too.
  const fetchKeys = async (_url: string, { signal }: { readonly signal: AbortSignal }) => {
    const atMs = systemTime.elapsedMs()
    try {
      const url = issuer.jwksUri ?? (await discoverKeysUrl(issuer, signal))
      const text = JSON.stringify(readKeySet(await fetchJson(url, signal)))
      if (text !== known?.text) generation += 1
      known = { text, atMs }
      isFailed = false
    } catch (error) {
      isFailed = true
      const fields = { err: error, issuer: issuer.issuer }
      log.warn(fields, 'the keys of a trusted issuer cannot be fetched')
    }
    return new Response(known?.text ?? '{"keys":[]}')
  }
  const keys = createRemoteJWKSet(new URL(issuer.issuer), {
    [customFetch]: fetchKeys,
    // The background job alone renews keys that have grown old.
    cacheMaxAge: Number.POSITIVE_INFINITY,
    cooldownDuration: limits.issuerCoolDownSeconds * 1000,
    timeoutDuration: limits.issuerTimeoutMs,
  })
  const find: JWTVerifyGetKey = async (header, token) => {
    // A request that comes during a fetch shares its result.
    if (known === undefined && (keys.reloading || !keys.coolingDown)) await keys.reload()
    const isUsable = known !== undefined && systemTime.elapsedMs() - known.atMs <= staleMs
    if (isUsable) return await keys(header, token)
    const detail = 'the issuer of this token cannot be reached, try again shortly'
    throw problem('unavailable', detail, { retryAfter: 30 })
  }
  const fetching = background.start(
    'fetch-issuer-keys',
    async () => {
      await keys.reload()
      return { isFailed }
    },
    { of: issuer.issuer },
  )
  void fetching.runSoon()
  return { find, generation: () => generation, refresh: keys.reload, close: fetching.stop }
}

const staleMs = limits.issuerStaleSeconds * 1000

async function fetchJson(url: string, signal: AbortSignal): Promise<unknown> {
  const { issuerAnswerBytesMax: answerBytesMax } = limits
  const headers = { accept: 'application/json' }
  try {
    return JSON.parse(await fetchBounded(url, { headers, signal, answerBytesMax }))
  } catch (cause) {
    throw new Error(`${url}: ${cause instanceof Error ? cause.message : cause}`, { cause })
  }
}

async function discoverKeysUrl(issuer: TrustedIssuer, signal: AbortSignal): Promise<string> {
  const url = `${issuer.issuer.replace(/\/$/, '')}/.well-known/openid-configuration`
  const metadata = await fetchJson(url, signal)
  const { issuer: name, jwks_uri: keys } = { ...(metadata as Record<string, unknown> | null) }
  // RFC 8414 section 3.3. Otherwise one issuer could present its keys as another's.
  if (name !== issuer.issuer) throw new Error(`${url} names another issuer`)
  if (typeof keys !== 'string' || !isSafeUrl(keys)) throw new Error(`${url} has no safe jwks_uri`)
  // A remote issuer must not direct this request to a service on this host.
  if (keys.startsWith('http:') && !issuer.issuer.startsWith('http:')) {
    throw new Error(`${url} has a jwks_uri that is not https`)
  }
  return keys
}

/** The signature keys of a key set. Throws if it is malformed or two keys share an id. */
function readKeySet(document: unknown): JSONWebKeySet {
  const { keys } = { ...(document as { keys?: unknown } | null) }
  if (!Array.isArray(keys) || keys.length > limits.issuerKeysMax) {
    throw new Error('the document is not a JSON Web Key Set')
  }
  const publicKeys = keys.filter(
    ({ kty, use }) => ['EC', 'RSA', 'OKP'].includes(kty) && (use ?? 'sig') === 'sig',
  )
  const ids = publicKeys.map(({ kid }) => kid)
  if (new Set(ids).size !== ids.length) throw new Error('two keys of the set have the same kid')
  return { keys: publicKeys }
}
