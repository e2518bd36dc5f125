import { isIP } from 'node:net'
import { limits } from '../limits.ts'
import { isWildcard } from '../machine/loopback.ts'
import { Secret } from '../secret.ts'
import { parseTrustedIssuers, type TrustedIssuer } from './trusted-issuers.ts'

type Parsed<T> = { readonly value: T } | { readonly fault: string }

/** One setting: its sources, its parser, and its row in docs/configuration.md. */
export type Setting<T> = {
  readonly env: string
  readonly flag?: string
  readonly fallback: T
  readonly parse: (given: unknown) => Parsed<T>
  readonly meaning: string
}

type Naming = { readonly env: string; readonly flag?: string; readonly meaning: string }

/** The rule of a text, or of each entry of a list. */
type Rule = {
  readonly accepts?: (text: string) => boolean
  readonly what?: string
  /** Says what is wrong, where `what` is not enough. It must not quote a secret. */
  readonly faultOf?: (text: string) => string | undefined
}

const isNotEmpty = (text: string): boolean => text !== ''

/** No fault quotes the text: the URL of a database may hold a password. */
export function text<T extends string | undefined>(
  fallback: T,
  { accepts = isNotEmpty, what = 'text', faultOf, ...naming }: Naming & Rule,
): Setting<string | T> {
  const parse = (given: unknown): Parsed<string> => {
    if (typeof given !== 'string' || !accepts(given)) return { fault: `must be ${what}` }
    const fault = faultOf?.(given)
    return fault === undefined ? { value: given } : { fault }
  }
  return { ...naming, fallback, parse }
}

export function integer<T extends number | undefined>(
  fallback: T,
  min: number,
  max: number,
  naming: Naming,
): Setting<number | T> {
  const parse = (given: unknown): Parsed<number> => {
    const value = typeof given === 'string' && /^\d{1,15}$/.test(given) ? Number(given) : given
    return typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max
      ? { value }
      : { fault: `must be a whole number from ${min} to ${max}` }
  }
  return { ...naming, fallback, parse }
}

export function flag(fallback: boolean, naming: Naming): Setting<boolean> {
  const parse = (given: unknown): Parsed<boolean> => {
    if (given === true || given === 'true') return { value: true }
    if (given === false || given === 'false') return { value: false }
    return { fault: 'must be true or false' }
  }
  return { ...naming, fallback, parse }
}

export function oneOf<T extends string>(
  fallback: T,
  members: readonly T[],
  naming: Naming,
): Setting<T> {
  const parse = (given: unknown): Parsed<T> => {
    const value = members.find((member) => member === given)
    return value === undefined ? { fault: `must be one of ${members.join(', ')}` } : { value }
  }
  return { ...naming, fallback, parse }
}

export function isAddressRange(text: string): boolean {
  const [address = '', prefix = '0', ...rest] = text.split('/')
  const bits = { 4: 32, 6: 128 }[isIP(address)] ?? -1
  return rest.length === 0 && /^\d{1,3}$/.test(prefix) && Number(prefix) <= bits
}

export function isOrigin(text: string): boolean {
  return text.startsWith('http') && URL.parse(text)?.origin === text
}

/** A list: comma-separated in the environment, an array of strings in the file. */
export function list(
  fallback: readonly string[],
  { accepts = isNotEmpty, what = 'texts', faultOf, ...naming }: Naming & Rule,
): Setting<readonly string[]> {
  const parse = (given: unknown): Parsed<readonly string[]> => {
    const parts = typeof given === 'string' ? given.split(',').map((part) => part.trim()) : given
    const isList = Array.isArray(parts)
    if (!isList || !parts.every((part) => typeof part === 'string' && accepts(part))) {
      return { fault: `must be a list of ${what}` }
    }
    const faults = parts.map((part) => faultOf?.(part))
    const at = faults.findIndex((fault) => fault !== undefined)
    return at < 0 ? { value: parts } : { fault: `entry ${at + 1} ${faults[at]}` }
  }
  return { ...naming, fallback, parse }
}

export function url(naming: Naming): Setting<string | undefined> {
  const parse = (given: unknown): Parsed<string> => {
    const isShort = typeof given === 'string' && given.length <= limits.configurationTextLengthMax
    const parsed = isShort ? URL.parse(given) : null
    const isPlain = parsed?.search === '' && parsed.hash === '' && parsed.username === ''
    if (!isPlain || !/^https?:$/.test(parsed.protocol)) {
      return { fault: 'must be an http or https URL without a query' }
    }
    const host = parsed.hostname.replace(/^\[|\]$/g, '')
    return isWildcard(host)
      ? { fault: `must name a host that callers can connect to, and ${host} is every address` }
      : { value: String(given).replace(/\/+$/, '') }
  }
  return { ...naming, fallback: undefined, parse }
}

export function trustedIssuers(naming: Naming): Setting<readonly TrustedIssuer[]> {
  return { ...naming, fallback: [], parse: parseTrustedIssuers }
}

export function masterKey(naming: Naming): Setting<Secret | undefined> {
  const parse = (given: unknown): Parsed<Secret> => {
    const isKey =
      typeof given === 'string' &&
      /^[A-Za-z0-9+/]{43}=?$/.test(given) &&
      Buffer.from(given, 'base64').length === 32
    return isKey
      ? { value: new Secret(given) }
      : { fault: 'must be 32 bytes in base64; make one with `openssl rand -base64 32`' }
  }
  return { ...naming, fallback: undefined, parse }
}
