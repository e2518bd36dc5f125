import { type Static, Type } from 'typebox'
import { limitsOf } from '../declare-limits.ts'
import { parseJson } from '../parse-json.ts'
import { type SchemaFault, schemaFaults, withRule } from '../schema-faults.ts'
import { httpUrlFault } from '../values/given-text.ts'
import { printable } from '../values/printable.ts'
import { type People, peopleSchema, peopleWithDefaults, text } from './people.ts'

const limits = limitsOf({
  /** Other issuers that one operator trusts. */
  trustedIssuersMax: 100,
})

// Asymmetric algorithms only: every holder of a shared secret could forge tokens.
const issuerAlgorithms = [
  'ES256',
  'ES384',
  'ES512',
  'PS256',
  'PS384',
  'PS512',
  'RS256',
  'RS384',
  'RS512',
  'EdDSA',
  'Ed25519',
]

const safeUrl = withRule(text, (url) =>
  isSafeUrl(url) ? httpUrlFault(url) : 'must be an https URL (http only on a loopback address)',
)

const issuerSchema = Type.Object(
  {
    issuer: safeUrl,
    /** The URL of its keys. By default its discovery document names it. */
    jwksUri: Type.Optional(safeUrl),
    /** The `aud` of a token must equal or contain it. */
    audience: text,
    algorithms: Type.Optional(
      Type.Array(Type.Enum(issuerAlgorithms), {
        minItems: 1,
        reason: `must be a list of ${issuerAlgorithms.join(', ')}`,
      }),
    ),
    /** The required `typ` of a token, or `any`. */
    typ: Type.Optional(text),
    /** The claim with the scopes: a string separated by blanks, or an array of strings. */
    scopeClaim: Type.Optional(text),
    /** The claim that names the client: `client_id`, `azp` or another. */
    clientClaim: Type.Optional(text),
    /** Only a client's own token has this claim with this value, where `{client}` is the client. */
    clientCredentials: Type.Optional(
      Type.Object(
        { claim: Type.String({ minLength: 1 }), value: Type.String({ minLength: 1 }) },
        { additionalProperties: false, reason: 'must be {"claim": TEXT, "value": TEXT}' },
      ),
    ),
    /** Persons who sign in to the console there; absent where none do. */
    people: Type.Optional(peopleSchema),
  },
  { additionalProperties: false, called: 'an issuer' },
)
type IssuerDocument = Static<typeof issuerSchema>

/** An OAuth 2 server whose access tokens Bursar accepts: one entry of `trustedIssuers`. */
export type TrustedIssuer = Readonly<Required<Omit<IssuerDocument, 'jwksUri' | 'people'>>> & {
  readonly jwksUri: string | undefined
  readonly people?: People
}

type Parsed = { readonly value: readonly TrustedIssuer[] } | { readonly fault: string }

/** Reads an array, or its JSON text from the environment. Reports every fault. */
export function parseTrustedIssuers(given: unknown): Parsed {
  const entries = typeof given === 'string' ? parseJson(given) : given
  if (!Array.isArray(entries) || entries.length > limits.trustedIssuersMax) {
    return { fault: `must be an array of at most ${limits.trustedIssuersMax} issuers` }
  }
  const documents = entries.map((entry) => ({ ...(typeof entry === 'object' ? entry : {}) }))
  const names = documents.map(({ issuer }) => issuer).filter((name) => typeof name === 'string')
  const doubled = names.filter((name, index) => names.indexOf(name) !== index)
  const faults = [
    ...documents.flatMap((document, index) =>
      issuerFaults(document).map(({ at, reason }) => `[${index}]${at} ${reason}`),
    ),
    ...[...new Set(doubled)].map((name) => `names ${printable(name)} twice`),
  ]
  if (faults.length > 0) return { fault: faults.join('; ') }
  return { value: documents.map(withDefaults) }
}

function issuerFaults(given: Readonly<Record<string, unknown>>): readonly SchemaFault[] {
  const { clientClaim, clientCredentials } = { ...defaults, ...given }
  const { claim, value } = { ...(clientCredentials as Readonly<Record<string, unknown>> | null) }
  const comparesItself = typeof claim === 'string' && claim === clientClaim && value === '{client}'
  const reason = `compares ${claim} with itself, so every token would pass`
  return [
    ...schemaFaults(issuerSchema, given),
    ...(comparesItself ? [{ at: '.clientCredentials', reason }] : []),
  ]
}

const defaults = {
  algorithms: ['ES256'],
  typ: 'at+jwt',
  scopeClaim: 'scope',
  clientClaim: 'client_id',
  // The subject of the token must be the client itself (RFC 9068 section 2.2).
  clientCredentials: { claim: 'sub', value: '{client}' },
}

const withDefaults = ({ jwksUri, people, ...given }: IssuerDocument): TrustedIssuer => ({
  jwksUri,
  ...defaults,
  ...given,
  ...(people !== undefined && { people: peopleWithDefaults(people) }),
})

/** Whether keys may be fetched from this URL: https, or http on a loopback address. */
export function isSafeUrl(text: string): boolean {
  const url = URL.parse(text)
  if (url === null || url.username !== '' || url.hash !== '') return false
  if (url.protocol === 'https:') return true
  return url.protocol === 'http:' && /^(localhost|127(\.\d+){3}|\[::1\])$/.test(url.hostname)
}
