import { systemTime } from './system-time.ts'

/** A private key of a client: PKCS #8 in PEM, a JSON Web Key, or a key of WebCrypto. */
export type PrivateKey = string | PrivateJwk | CryptoKey

export type PrivateJwk = Readonly<
  Partial<
    Record<'kty' | 'crv' | 'x' | 'y' | 'n' | 'e' | 'd' | 'p' | 'q' | 'dp' | 'dq' | 'qi', string>
  >
> & {
  readonly alg?: string
  readonly kid?: string
  readonly use?: string
  readonly key_ops?: readonly string[]
  readonly ext?: boolean
}

type Algorithm = {
  /** WebCrypto's name. */
  readonly name: string
  /** The names in a JSON Web Key and in the header of an assertion. */
  readonly jwa: readonly [string, ...string[]]
  readonly parameters: object
}

const hash = 'SHA-256'

/** The algorithms that Bursar takes, and RS256 for other servers. */
const algorithms: readonly Algorithm[] = [
  { name: 'ECDSA', jwa: ['ES256'], parameters: { namedCurve: 'P-256', hash } },
  { name: 'Ed25519', jwa: ['EdDSA', 'Ed25519'], parameters: {} },
  { name: 'RSA-PSS', jwa: ['PS256'], parameters: { hash, saltLength: 32 } },
  { name: 'RSASSA-PKCS1-v1_5', jwa: ['RS256'], parameters: { hash } },
]

/** Bursar takes assertions of five minutes at most. */
const LIFE_SECONDS = 60

/** Returns a function that signs an assertion of RFC 7523. A server takes each one once. */
export function openAssertions(
  clientId: string,
  privateKey: PrivateKey,
  keyId: string | undefined,
  audience: string,
): () => Promise<string> {
  const { kid, alg }: PrivateJwk =
    typeof privateKey === 'string' || isCryptoKey(privateKey) ? {} : privateKey
  let imported: Awaited<ReturnType<typeof importKey>> | undefined
  return async () => {
    // Not the promise is kept: that of a Worker's request that has ended never settles.
    imported ??= await importKey(privateKey, alg)
    const { key, algorithm } = imported
    const issuedAt = Math.floor(systemTime.wallMs() / 1000)
    const header = { alg: alg ?? algorithm.jwa[0], typ: 'JWT', kid: keyId ?? kid }
    const claims = {
      iss: clientId,
      sub: clientId,
      aud: audience,
      jti: crypto.randomUUID(),
      iat: issuedAt,
      exp: issuedAt + LIFE_SECONDS,
    }
    const signed = `${encoded(utf8(JSON.stringify(header)))}.${encoded(utf8(JSON.stringify(claims)))}`
    const parameters = { name: algorithm.name, ...algorithm.parameters }
    const signature = await crypto.subtle.sign(parameters, key, utf8(signed))
    return `${signed}.${encoded(new Uint8Array(signature))}`
  }
}

async function importKey(
  privateKey: PrivateKey,
  alg: string | undefined,
): Promise<{ readonly key: CryptoKey; readonly algorithm: Algorithm }> {
  for (const algorithm of algorithms) {
    if (alg !== undefined && !algorithm.jwa.includes(alg)) continue
    try {
      const key = await importAs(privateKey, algorithm)
      if (key.algorithm.name === algorithm.name) return { key, algorithm }
    } catch {
      // It is a key for another algorithm. The error may quote it.
    }
  }
  throw new TypeError('privateKey must be a private key for ES256, EdDSA, PS256 or RS256')
}

async function importAs(
  privateKey: PrivateKey,
  { name, parameters }: Algorithm,
): Promise<CryptoKey> {
  const algorithm = { name, ...parameters }
  if (typeof privateKey === 'string') {
    const base64 = privateKey.replace(/-----[\w ]+-----|\s/g, '')
    const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0))
    return crypto.subtle.importKey('pkcs8', bytes, algorithm, false, ['sign'])
  }
  if (isCryptoKey(privateKey)) return privateKey
  // These members say again what the algorithm says, in words that not every runtime takes.
  const { alg: _alg, use: _use, key_ops: _operations, ext: _ext, ...jwk } = privateKey
  return crypto.subtle.importKey('jwk', jwk, algorithm, false, ['sign'])
}

const isCryptoKey = (key: PrivateJwk | CryptoKey): key is CryptoKey => 'algorithm' in key

const utf8 = (text: string): Uint8Array<ArrayBuffer> => new TextEncoder().encode(text)

const encoded = (bytes: Uint8Array): string =>
  btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '')
