import { createLocalJWKSet, errors, type JSONWebKeySet, type JWTVerifyGetKey } from 'jose'
import type { Background } from '../../background.ts'
import { problem } from '../../contract/problem.ts'
import { fetchBounded } from '../../platform/bounded-fetch.ts'
import type { Clock } from '../../platform/clock.ts'
import { limits } from '../../platform/limits.ts'
import type { Logger } from '../../platform/log.ts'
import { isSafeUrl, type TrustedIssuer } from '../../platform/settings/trusted-issuers.ts'

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
  readonly clock: Clock
  readonly log: Logger
  readonly background: Background
}

/** Starts to fetch the keys without waiting: an issuer that is down must not delay the start. */
export function openIssuerKeys({ issuer, clock, log, background }: IssuerKeysDeps): IssuerKeys {
  let known: { text: string; find: ReturnType<typeof createLocalJWKSet>; at: bigint } | undefined
  let generation = 0
  let fetchedAt = 0n
  let isFailed = false
  let running: Promise<void> | undefined

  const fetchKeys = async () => {
    fetchedAt = clock()
    try {
      const set = readKeySet(await fetchJson(issuer.jwksUri ?? (await discoverKeysUrl(issuer))))
      const text = JSON.stringify(set)
      if (text !== known?.text) generation += 1
      known = { text, find: createLocalJWKSet(set), at: fetchedAt }
      isFailed = false
    } catch (error) {
      isFailed = true
      const fields = { err: error, issuer: issuer.issuer }
      log.warn(fields, 'the keys of a trusted issuer cannot be fetched')
    }
  }
  const refresh = () => {
    running ??= fetchKeys().finally(() => {
      running = undefined
    })
    return running
  }
  // A request that comes during a fetch shares its result.
  const mayFetch = () => running !== undefined || hasCooledDown(fetchedAt, clock())
  const usable = async () => {
    if (known === undefined && mayFetch()) await refresh()
    if (known !== undefined && clock() - known.at <= issuerStale) return known
    const detail = 'the issuer of this token cannot be reached, try again shortly'
    throw problem('unavailable', detail, { retryAfter: 30 })
  }
  const find: JWTVerifyGetKey = async (header, token) => {
    try {
      return await (await usable()).find(header, token)
    } catch (error) {
      const isUnknown = error instanceof errors.JWKSNoMatchingKey
      if (!isUnknown || !mayFetch()) throw error
      await refresh()
      return (await usable()).find(header, token)
    }
  }
  const fetching = background.start(
    'fetch-issuer-keys',
    async () => {
      await refresh()
      return { isFailed }
    },
    { of: issuer.issuer },
  )
  void fetching.runSoon()
  return { find, generation: () => generation, refresh, close: fetching.stop }
}

const issuerStale = BigInt(limits.issuerStaleSeconds) * 1_000_000n

const hasCooledDown = (fetchedAt: bigint, now: bigint) =>
  now - fetchedAt >= BigInt(limits.issuerCoolDownSeconds) * 1_000_000n

async function fetchJson(url: string): Promise<unknown> {
  const { issuerTimeoutMs, issuerAnswerBytesMax: answerBytesMax } = limits
  const signal = AbortSignal.timeout(issuerTimeoutMs)
  const headers = { accept: 'application/json' }
  try {
    return JSON.parse(await fetchBounded(url, { headers, signal, answerBytesMax }))
  } catch (cause) {
    throw new Error(`${url}: ${cause instanceof Error ? cause.message : cause}`, { cause })
  }
}

async function discoverKeysUrl(issuer: TrustedIssuer): Promise<string> {
  const url = `${issuer.issuer.replace(/\/$/, '')}/.well-known/openid-configuration`
  const metadata = await fetchJson(url)
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
