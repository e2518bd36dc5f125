import { KeyObject } from 'node:crypto'
import {
  type Background,
  fetchBounded,
  isSafeUrl,
  type Logger,
  limitsOf,
  openTimeSlices,
  parseJson,
  systemTime,
  type TrustedIssuer,
} from '@bursar/base'
import { problem } from '@bursar/contract'
import {
  createLocalJWKSet,
  createRemoteJWKSet,
  customFetch,
  errors,
  type JWTVerifyGetKey,
  type ResolvedKey,
} from 'jose'
import { formOf, isForOtherPurpose, type LeftOut, readKeySet } from './read-key-set.ts'

const limits = limitsOf({
  /** How long the old keys of another issuer serve while it is down. */
  issuerStaleSeconds: 24 * 3600,
  /** An unknown key id triggers a fetch at most this often, so that nobody can flood the issuer. */
  issuerCoolDownSeconds: 30,
  /** For the address of the keys and the keys together. */
  issuerTimeoutMs: 5000,
  issuerAnswerBytesMax: 262_144,
  /** Unusable keys that a log line names; the rest are counted. */
  issuerKeysNamedMax: 20,
})

/** The public keys of one trusted issuer, refreshed in the background. */
export type IssuerKeys = {
  /** jose's key look-up. Throws a Problem 503 if the keys are unknown or too old. */
  readonly find: JWTVerifyGetKey
  /** Whether the issuer still publishes a key that was found. */
  has(key: ResolvedKey['key']): boolean
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
  let forms: ReadonlySet<string> = new Set()
  let withoutId = createLocalJWKSet({ keys: [] })
  let generation = 0
  let isFailed = false
  /** What the issuer did when the keys could not be fetched. */
  let failure = 'cannot be reached'
  const slices = openTimeSlices()
  const noteLeftOut = openNotes(issuer, log)

  // Answers a failed fetch with the known keys, which then serve on. A failure cools down too.
  const fetchKeys = async (_url: string, { signal }: { readonly signal: AbortSignal }) => {
    const atMs = systemTime.elapsedMs()
    let url = issuer.jwksUri ?? metadataUrl(issuer)
    try {
      if (issuer.jwksUri === undefined) url = keysUrl(await fetchJson(url, signal), issuer)
      const document = await fetchJson(url, signal)
      const set = await readKeySet(document, issuer.algorithms, slices.next)
      if (set === undefined) throw new Error('answered what is no JSON Web Key Set')
      const { keys, leftOut } = set
      forms = set.forms
      const text = JSON.stringify({ keys })
      if (text !== known?.text) generation += 1
      known = { text, atMs }
      withoutId = createLocalJWKSet({ keys: keys.filter(({ kid }) => kid === undefined) })
      noteLeftOut(leftOut)
      isFailed = false
    } catch (error) {
      isFailed = true
      failure = (error as Error).message
      const fields = { err: error, issuer: issuer.issuer, url: url.replace(/\?.*/s, '') }
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
    if (!isUsable) {
      const detail = `the issuer of this token ${failure}, try again shortly`
      throw problem('unavailable', detail, { retryAfter: 30 })
    }
    try {
      return await keys(header, token)
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error
      // RFC 7515 appendix D: a key without an id may be the one that the token names.
      return await withoutId({ alg: header.alg })
    }
  }
  // One key has signed many tokens.
  const formsOfFound = new WeakMap<ResolvedKey['key'], string>()
  const has = (key: ResolvedKey['key']) => {
    if (key instanceof Uint8Array) return false
    const form = formsOfFound.get(key) ?? formOf(KeyObject.from(key))
    formsOfFound.set(key, form)
    return forms.has(form)
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
  return { find, has, generation: () => generation, refresh: keys.reload, close: fetching.stop }
}

const staleMs = limits.issuerStaleSeconds * 1000

/** Names the entries that are left out in the log, once for each change of them. */
function openNotes({ issuer }: TrustedIssuer, log: Logger): (leftOut: readonly LeftOut[]) => void {
  let noted = ''
  return (leftOut) => {
    const keys = leftOut.slice(0, limits.issuerKeysNamedMax)
    const fields = { issuer, count: leftOut.length, keys }
    const text = JSON.stringify(fields)
    if (text === noted) return
    noted = text
    if (leftOut.length === 0) return
    const level = leftOut.every(isForOtherPurpose) ? 'info' : 'warn'
    log[level](fields, 'keys of a trusted issuer are left out')
  }
}

/** Throws an Error whose message, which callers see, goes on after the name of the issuer. */
async function fetchJson(url: string, signal: AbortSignal): Promise<unknown> {
  const { issuerAnswerBytesMax: answerBytesMax } = limits
  const headers = { accept: 'application/json' }
  const text = await fetchBounded(url, { headers, signal, answerBytesMax, redirect: 'manual' })
  const document = parseJson(text)
  if (document === undefined) throw new Error('answered what is no JSON')
  return document
}

const metadataUrl = ({ issuer }: TrustedIssuer): string =>
  `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`

function keysUrl(metadata: unknown, { issuer }: TrustedIssuer): string {
  const { issuer: name, jwks_uri: keys } = { ...(metadata as Record<string, unknown> | null) }
  // RFC 8414 section 3.3. Otherwise one issuer could present its keys as another's.
  if (name !== issuer) throw new Error('names another issuer in its metadata')
  if (typeof keys !== 'string' || !isSafeUrl(keys)) throw new Error('names no safe jwks_uri')
  // A remote issuer must not direct this request to a service on this host.
  if (keys.startsWith('http:') && !issuer.startsWith('http:')) {
    throw new Error('names a jwks_uri that is not https')
  }
  return keys
}
