import { createLocalJWKSet, errors, type JSONWebKeySet, type JWTVerifyGetKey } from 'jose'
import { Problem } from '../../contract/problem.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Logger } from '../../platform/log.ts'
import { isSafeUrl, type TrustedIssuer } from '../../platform/trusted-issuers.ts'
import {
  issuerCoolDownSeconds,
  issuerKeysMax,
  issuerRefreshMs,
  issuerStaleSeconds,
} from '../limits.ts'
import { fetchJson } from './fetch-json.ts'
import type { Every } from './states.ts'

/** The public keys of one trusted issuer, kept fresh in the background. */
export type IssuerKeys = {
  /** Finds the key of a token, as jose asks for it. Throws a Problem 503 where the keys are unknown or too old. */
  readonly find: JWTVerifyGetKey
  /** Rises whenever the set of keys is another than before. */
  generation(): number
  /** Reads them now. Never rejects: what is known stays, and the log says why. */
  refresh(): Promise<void>
  close(): void
}

type Known = {
  readonly text: string
  readonly find: ReturnType<typeof createLocalJWKSet>
  readonly at: bigint
}

export type IssuerKeySources = {
  readonly issuer: TrustedIssuer
  readonly clock: Clock
  readonly log: Logger
  readonly every: Every
}

/** Begins to read the issuer's keys; an issuer that is down holds up nobody's start. */
export function openIssuerKeys({ issuer, clock, log, every }: IssuerKeySources): IssuerKeys {
  let known: Known | undefined
  let generation = 0
  let askedAt = 0n
  let running: Promise<void> | undefined

  const read = async () => {
    askedAt = clock()
    try {
      const set = readKeySet(await fetchJson(issuer.jwksUri ?? (await discoverKeys(issuer))))
      const text = JSON.stringify(set)
      if (text !== known?.text) generation += 1
      known = { text, find: createLocalJWKSet(set), at: askedAt }
    } catch (error) {
      log.warn({ err: error, issuer: issuer.issuer }, 'the keys of a trusted issuer cannot be read')
    }
  }
  const refresh = () => {
    running ??= read().finally(() => {
      running = undefined
    })
    return running
  }
  // Whoever comes while the question is open waits for its answer with the others.
  const mayAsk = () => running !== undefined || hasCooledDown(askedAt, clock())
  const usable = async (): Promise<Known> => {
    if (known === undefined && mayAsk()) await refresh()
    if (known !== undefined && clock() - known.at <= issuerStale) return known
    throw new Problem(503, 'the issuer of this token cannot be reached, try again shortly', {
      headers: { 'Retry-After': '30' },
    })
  }
  const find: JWTVerifyGetKey = async (header, token) => {
    try {
      return await (await usable()).find(header, token)
    } catch (error) {
      const isUnknown = error instanceof errors.JWKSNoMatchingKey
      if (!isUnknown || !mayAsk()) throw error
      await refresh()
      return (await usable()).find(header, token)
    }
  }
  const refreshQuietly = () => {
    void refresh()
  }
  refreshQuietly()
  return {
    find,
    generation: () => generation,
    refresh,
    close: every(issuerRefreshMs, refreshQuietly),
  }
}

const issuerStale = BigInt(issuerStaleSeconds) * 1_000_000n

const hasCooledDown = (askedAt: bigint, now: bigint) =>
  now - askedAt >= BigInt(issuerCoolDownSeconds) * 1_000_000n

async function discoverKeys(issuer: TrustedIssuer): Promise<string> {
  const url = `${issuer.issuer.replace(/\/$/, '')}/.well-known/openid-configuration`
  const metadata = await fetchJson(url)
  const { issuer: name, jwks_uri: keys } = { ...(metadata as Record<string, unknown> | null) }
  // RFC 8414 section 3.3: otherwise one issuer could pass off its keys as another's.
  if (name !== issuer.issuer) throw new Error(`${url} names another issuer`)
  if (typeof keys !== 'string' || !isSafeUrl(keys)) throw new Error(`${url} has no safe jwks_uri`)
  // An issuer elsewhere must not send us to this machine's own services.
  if (keys.startsWith('http:') && !issuer.issuer.startsWith('http:')) {
    throw new Error(`${url} has a jwks_uri that is not https`)
  }
  return keys
}

/** The keys that can verify a signature. Throws where the document is no key set or one id names two keys. */
function readKeySet(document: unknown): JSONWebKeySet {
  const { keys } = { ...(document as { keys?: unknown } | null) }
  if (!Array.isArray(keys) || keys.length > issuerKeysMax) throw new Error('not a JSON Web Key Set')
  const publicKeys = keys.filter(
    ({ kty, use }) => ['EC', 'RSA', 'OKP'].includes(kty) && (use ?? 'sig') === 'sig',
  )
  const ids = publicKeys.map(({ kid }) => kid)
  if (new Set(ids).size !== ids.length) throw new Error('two keys of the set have the same kid')
  return { keys: publicKeys }
}
