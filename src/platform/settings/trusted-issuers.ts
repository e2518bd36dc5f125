import { printable } from '../../values/printable.ts'
import { limits } from '../limits.ts'
import { parseJson } from '../parse-json.ts'
import { isText, type People, readPeople } from './people.ts'

/** An OAuth 2 server whose access tokens Bursar accepts: one entry of `trustedIssuers`. */
export type TrustedIssuer = {
  readonly issuer: string
  /** The URL of its keys. By default its discovery document names it. */
  readonly jwksUri: string | undefined
  /** The `aud` of a token must equal or contain it. */
  readonly audience: string
  readonly algorithms: readonly string[]
  /** The required `typ` of a token, or `any`. */
  readonly typ: string
  /** The claim with the scopes: a string separated by blanks, or an array of strings. */
  readonly scopeClaim: string
  /** The claim that names the client: `client_id`, `azp` or another. */
  readonly clientClaim: string
  /** Only a client's own token has this claim with this value, where `{client}` is the client. */
  readonly clientCredentials: { readonly claim: string; readonly value: string }
  /** Persons who sign in to the console there; absent where none do. */
  readonly people?: People
}

// Asymmetric algorithms only: every holder of a shared secret could forge tokens.
const issuerAlgorithms = [
  ...['ES256', 'ES384', 'ES512', 'PS256', 'PS384', 'PS512'],
  ...['RS256', 'RS384', 'RS512', 'EdDSA', 'Ed25519'],
]

type Parsed = { readonly value: readonly TrustedIssuer[] } | { readonly fault: string }

/** Reads an array, or its JSON text from the environment. Reports every fault. */
export function parseTrustedIssuers(given: unknown): Parsed {
  const entries = typeof given === 'string' ? parseJson(given) : given
  if (!Array.isArray(entries) || entries.length > limits.trustedIssuersMax) {
    return { fault: `must be an array of at most ${limits.trustedIssuersMax} issuers` }
  }
  const faults: string[] = []
  const value = entries.map((entry, index) => readIssuer(entry, `[${index}]`, faults))
  const names = value.map(({ issuer }) => issuer)
  const doubled = names.filter((name, index) => name !== '' && names.indexOf(name) !== index)
  for (const name of new Set(doubled)) faults.push(`names ${printable(name)} twice`)
  return faults.length > 0 ? { fault: faults.join('; ') } : { value }
}

function readIssuer(entry: unknown, at: string, faults: string[]): TrustedIssuer {
  const given: Record<string, unknown> = { ...(typeof entry === 'object' ? entry : {}) }
  const text = (name: string, fallback?: string): string => {
    const value = given[name] ?? fallback
    if (isText(value)) return value
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
  const algorithms = given.algorithms ?? ['ES256']
  const known = Array.isArray(algorithms) && algorithms.length > 0
  if (!known || !algorithms.every((name) => issuerAlgorithms.includes(name))) {
    faults.push(`${at}.algorithms must be a list of ${issuerAlgorithms.join(', ')}`)
  }
  const people = readPeople(given.people, at, faults)
  const issuer = {
    issuer: url('issuer'),
    jwksUri: given.jwksUri === undefined ? undefined : url('jwksUri'),
    audience: text('audience'),
    algorithms: known ? algorithms.map(String) : [],
    typ: text('typ', 'at+jwt'),
    scopeClaim: text('scopeClaim', 'scope'),
    clientClaim: text('clientClaim', 'client_id'),
    clientCredentials: readClientCredentials(given.clientCredentials, at, faults),
    ...(people !== undefined && { people }),
  }
  const { claim, value } = issuer.clientCredentials
  if (claim === issuer.clientClaim && value === '{client}') {
    faults.push(`${at}.clientCredentials compares ${claim} with itself, so every token would pass`)
  }
  for (const name of Object.keys(given)) {
    if (Object.hasOwn(issuer, name) || name === 'people') continue
    faults.push(`${at} has ${printable(name)}, which is not a member of an issuer`)
  }
  return issuer
}

/** By default the subject of the token must be the client itself (RFC 9068 section 2.2). */
function readClientCredentials(given: unknown, at: string, faults: string[]) {
  if (given === undefined) return { claim: 'sub', value: '{client}' }
  const members = typeof given === 'object' && given !== null ? Object.entries(given) : []
  const { claim, value } = Object.fromEntries(members)
  if (members.length === 2 && isText(claim) && isText(value)) return { claim, value }
  faults.push(`${at}.clientCredentials must be {"claim": TEXT, "value": TEXT}`)
  return { claim: '', value: '' }
}

/** Whether keys may be fetched from this URL: https, or http on a loopback address. */
export function isSafeUrl(text: string): boolean {
  const url = URL.parse(text)
  if (url === null || url.username !== '' || url.hash !== '') return false
  if (url.protocol === 'https:') return true
  return url.protocol === 'http:' && /^(localhost|127(\.\d+){3}|\[::1\])$/.test(url.hostname)
}
