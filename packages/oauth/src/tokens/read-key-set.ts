import { createPublicKey, type KeyObject } from 'node:crypto'
import { attempt, limitsOf, type Pace, printable } from '@bursar/base'
import type { JWK } from 'jose'
import { oauthLimits } from '../limits.ts'

const limits = limitsOf({
  /** Usable keys of a set. A look-up among so many takes 0.1 ms. */
  issuerKeysMax: 1000,
  /** A token of anyone is checked with each key of its id, so few share one. */
  issuerKeysOfOneIdMax: 10,
})

export type KeySet = {
  readonly keys: readonly JWK[]
  /** Each of the keys, without its id and algorithm. */
  readonly forms: ReadonlySet<string>
  readonly leftOut: readonly LeftOut[]
}

/** An entry that is not used: its place in the set, its id if it has one, and the reason. */
export type LeftOut = {
  readonly at: number
  readonly kid: string | undefined
  readonly why: string
}

const { issuerKeysMax, issuerKeysOfOneIdMax } = limits
const { rsaBitsMin } = oauthLimits

const isNoKey = 'is not a JSON Web Key'
const isBroken = 'is broken, weak, or of an unknown kty or crv'
const isPublished = 'is published with its private part, so anyone can sign with it'
const otherPurpose = 'is not for signatures of the configured algorithms'
const isTooMany = `is past the first ${issuerKeysOfOneIdMax} with its kid, or the first ${issuerKeysMax} of the set`

/** Many issuers rightly publish keys for encryption and for other algorithms too. */
export const isForOtherPurpose = ({ why }: LeftOut): boolean => why === otherPurpose

/**
 * The public keys of a JSON Web Key Set (RFC 7517) that may sign tokens with one of the algorithms.
 * No entry spoils another. Undefined if the document is no key set.
 */
export async function readKeySet(
  document: unknown,
  algorithms: readonly string[],
  pace: Pace,
): Promise<KeySet | undefined> {
  const { keys: given } = { ...(document as { readonly keys?: unknown } | null) }
  if (!Array.isArray(given)) return undefined
  // By content, because a key that is in the set twice is one key.
  const entries = new Map<string, Entry & { readonly at: number }>()
  for (const [at, each] of given.entries()) {
    await pace()
    const entry = readEntry(each, algorithms)
    const text = JSON.stringify(entry)
    if (!entries.has(text)) entries.set(text, { ...entry, at })
  }
  const published = new Set(
    [...entries.values()].filter(({ why }) => why === isPublished).map(({ key }) => key),
  )
  const keys: JWK[] = []
  const forms = new Set<string>()
  const leftOut: LeftOut[] = []
  const countOfId = new Map<string | undefined, number>()
  for (const { at, kid, alg, key = '', why: fault } of entries.values()) {
    const count = countOfId.get(kid) ?? 0
    const isFull = count === issuerKeysOfOneIdMax || keys.length === issuerKeysMax
    const why =
      fault ?? (published.has(key) ? isPublished : undefined) ?? (isFull ? isTooMany : undefined)
    if (why === undefined) {
      keys.push({ ...JSON.parse(key), kid, alg })
      forms.add(key)
      countOfId.set(kid, count + 1)
    } else leftOut.push({ at, kid: kid && printable(kid), why })
  }
  return { keys, forms, leftOut }
}

type Entry = {
  readonly kid?: string | undefined
  readonly alg?: string | undefined
  /** The public key alone, in one form. */
  readonly key?: string | undefined
  readonly why: string | undefined
}

function readEntry(given: unknown, algorithms: readonly string[]): Entry {
  if (typeof given !== 'object' || given === null) return { why: isNoKey }
  // Some libraries write an absent member as null.
  const set = Object.entries(given).filter(([, value]) => value !== null)
  const members: Members = Object.fromEntries(set)
  const { kid, alg } = members
  const key = importPublicKey(members)
  return {
    kid: typeof kid === 'string' ? kid : undefined,
    alg: typeof alg === 'string' ? alg : undefined,
    key: key && formOf(key),
    why: faultOf(members, key, algorithms),
  }
}

/** A public key in the one form by which keys are compared. */
export const formOf = (key: KeyObject): string => JSON.stringify(key.export({ format: 'jwk' }))

type Members = Readonly<Record<string, unknown>>

/** Without other members, which could make the import fail or the key a private one. */
function importPublicKey({ kty, crv, x, y, n, e }: Members): KeyObject | undefined {
  const key = { kty, crv, x, y, n, e } as JWK
  return attempt(() => createPublicKey({ key, format: 'jwk' }))
}

function faultOf(
  members: Members,
  key: KeyObject | undefined,
  algorithms: readonly string[],
): string | undefined {
  if (privateMembers.some((name) => name in members)) return isPublished
  const { use = 'sig', key_ops: operations = ['verify'], alg } = members
  const isForChecks = Array.isArray(operations) && operations.includes('verify')
  if (use !== 'sig' || !isForChecks) return otherPurpose
  const possible = key && algorithmsOf(key)
  if (possible === undefined) return isBroken
  const accepted = possible.filter((name) => algorithms.includes(name))
  return accepted.some((name) => name === (alg ?? name)) ? undefined : otherPurpose
}

/** The members of private and of shared keys (RFC 7518 section 6). */
const privateMembers = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k', 'priv']

/** The algorithms whose signatures a key can check. Undefined for a key that checks none safely. */
function algorithmsOf({
  asymmetricKeyType: type,
  asymmetricKeyDetails: details,
}: KeyObject): readonly string[] | undefined {
  if (type === 'ed25519') return ['EdDSA', 'Ed25519']
  if (type === 'ec') return algorithmsOfCurve[details?.namedCurve ?? '']
  if (type !== 'rsa') return undefined
  const { modulusLength = 0, publicExponent = 0n } = details ?? {}
  // With the exponent 1, every message is its own signature.
  const isSafe = modulusLength >= rsaBitsMin && publicExponent > 1n && publicExponent % 2n === 1n
  return isSafe ? ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'] : undefined
}

const algorithmsOfCurve: Readonly<Record<string, readonly string[]>> = {
  prime256v1: ['ES256'],
  secp384r1: ['ES384'],
  secp521r1: ['ES512'],
}
