/** Another OAuth 2 server whose access tokens are accepted, as `trustedIssuers` in the configuration names it. */
export type TrustedIssuer = {
  readonly issuer: string
  /** Where its keys are; found by its discovery document where it is not given. */
  readonly jwksUri: string | undefined
  /** What its tokens' `aud` must be or contain. */
  readonly audience: string
  readonly algorithms: readonly string[]
  /** The `typ` that its tokens must carry, or `any`. */
  readonly typ: string
  /** The claim with the scopes: a text with blanks between them, or an array of texts. */
  readonly scopeClaim: string
  /** The claim that names the client: `client_id`, `azp` or another. */
  readonly clientClaim: string
}

// Asymmetric ones only. A shared secret would let every holder of it make tokens.
const issuerAlgorithms = [
  ...['ES256', 'ES384', 'ES512', 'PS256', 'PS384', 'PS512'],
  ...['RS256', 'RS384', 'RS512', 'EdDSA', 'Ed25519'],
]

type Parsed = { readonly value: readonly TrustedIssuer[] } | { readonly fault: string }

/** Reads the array of the configuration file, or the same as JSON from the environment. Names every fault. */
export function parseTrustedIssuers(given: unknown): Parsed {
  const entries = typeof given === 'string' ? parseJson(given) : given
  if (!Array.isArray(entries)) return { fault: 'must be an array of issuers' }
  const faults: string[] = []
  const value = entries.map((entry, index) => readIssuer(entry, `[${index}]`, faults))
  const names = value.map(({ issuer }) => issuer)
  const doubled = names.filter((name, index) => name !== '' && names.indexOf(name) !== index)
  for (const name of new Set(doubled)) faults.push(`names ${name} twice`)
  return faults.length > 0 ? { fault: faults.join('; ') } : { value }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const members = [
  ...['issuer', 'jwksUri', 'audience', 'algorithms', 'typ', 'scopeClaim', 'clientClaim'],
]

function readIssuer(entry: unknown, at: string, faults: string[]): TrustedIssuer {
  const given: Record<string, unknown> =
    typeof entry === 'object' && entry !== null ? { ...entry } : {}
  const text = (name: string, fallback?: string): string => {
    const value = given[name] ?? fallback
    if (typeof value === 'string' && value !== '') return value
    faults.push(`${at}.${name} must be text`)
    return ''
  }
  const url = (name: string): string => {
    const value = text(name)
    if (value !== '' && !isSafeUrl(value)) {
      faults.push(`${at}.${name} must be an https URL (http only on a loopback address)`)
    }
    return value
  }
  for (const name of Object.keys(given)) {
    if (!members.includes(name)) faults.push(`${at} has ${name}, which is no member of an issuer`)
  }
  const algorithms = given.algorithms ?? ['ES256']
  const known = Array.isArray(algorithms) && algorithms.length > 0
  if (!known || !algorithms.every((name) => issuerAlgorithms.includes(name))) {
    faults.push(`${at}.algorithms must be a list of ${issuerAlgorithms.join(', ')}`)
  }
  return {
    issuer: url('issuer'),
    jwksUri: given.jwksUri === undefined ? undefined : url('jwksUri'),
    audience: text('audience'),
    algorithms: known ? algorithms.map(String) : [],
    typ: text('typ', 'at+jwt'),
    scopeClaim: text('scopeClaim', 'scope'),
    clientClaim: text('clientClaim', 'client_id'),
  }
}

/** Whether keys may be fetched from here: https, or http on this very machine. */
export function isSafeUrl(text: string): boolean {
  const url = URL.parse(text)
  if (url === null || url.username !== '' || url.hash !== '') return false
  if (url.protocol === 'https:') return true
  return url.protocol === 'http:' && /^(localhost|127(\.\d+){3}|\[::1\])$/.test(url.hostname)
}
