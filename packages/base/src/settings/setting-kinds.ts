import { isIP } from 'node:net'
import { type TSchema, Type } from 'typebox'
import { Format } from 'typebox/format'
import { baseLimits } from '../limits.ts'
import { isWildcard } from '../machine/loopback.ts'
import { firstFault, type Rule, withRule } from '../schema-faults.ts'
import { masterKeyForm, Secret } from '../secret.ts'
import { hiddenFault, httpUrlFault } from '../values/given-text.ts'
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

type Naming = Pick<Setting<unknown>, 'env' | 'flag' | 'meaning'>

/** Reads a value of the file, or the text of a variable or an option. */
const parsedBy =
  <T>(schema: TSchema, fromText: (text: string) => unknown = (text) => text) =>
  (given: unknown): Parsed<T> => {
    const value = typeof given === 'string' ? fromText(given) : given
    const unseen = typeof value === 'string' ? hiddenFault(value) : undefined
    const fault = unseen ?? firstFault(schema, value)
    return fault === undefined ? { value: value as T } : { fault }
  }

/** Settings whose texts have a rule. It must not quote the text, which may hold a password. */
type Ruled = Naming & { readonly faultOf?: Rule }

export function text<T extends string | undefined>(
  fallback: T,
  { faultOf = () => undefined, ...naming }: Ruled,
): Setting<string | T> {
  const schema = Type.String({ minLength: 1, reason: 'must be text' })
  return { ...naming, fallback, parse: parsedBy(withRule(schema, faultOf)) }
}

export function integer<T extends number | undefined>(
  fallback: T,
  minimum: number,
  maximum: number,
  naming: Naming,
): Setting<number | T> {
  const reason = `must be a whole number from ${minimum} to ${maximum}`
  const schema = Type.Integer({ minimum, maximum, reason })
  const fromText = (text: string) => (/^\d{1,15}$/.test(text) ? Number(text) : text)
  return { ...naming, fallback, parse: parsedBy(schema, fromText) }
}

export function flag(fallback: boolean, naming: Naming): Setting<boolean> {
  const schema = Type.Boolean({ reason: 'must be true or false' })
  const fromText = (text: string) => (/^(true|false)$/.test(text) ? text === 'true' : text)
  return { ...naming, fallback, parse: parsedBy(schema, fromText) }
}

export function oneOf<T extends string>(
  fallback: T,
  members: readonly T[],
  naming: Naming,
): Setting<T> {
  const reason = `must be one of ${members.join(', ')}`
  return { ...naming, fallback, parse: parsedBy(Type.Enum([...members], { reason })) }
}

Format.Set('address-range', (text) => {
  const [address = '', prefix = '0', ...rest] = text.split('/')
  const bits = { 4: 32, 6: 128 }[isIP(address)] ?? -1
  return rest.length === 0 && /^\d{1,3}$/.test(prefix) && Number(prefix) <= bits
})

Format.Set('origin', (text) => text.startsWith('http') && URL.parse(text)?.origin === text)

/** A list: separated by commas in the environment, an array of strings in the file. */
export function list(
  fallback: readonly string[],
  {
    entries = Type.String({ minLength: 1 }),
    what = 'texts',
    separator = ',',
    faultOf = () => undefined,
    ...naming
  }: Ruled & { readonly entries?: TSchema; readonly what?: string; readonly separator?: string },
): Setting<readonly string[]> {
  const entry = withRule(entries, (text) => hiddenFault(text) ?? faultOf(text))
  const schema = Type.Array(entry, { reason: `must be a list of ${what}` })
  const fromText = (text: string) =>
    text
      .trim()
      .split(separator)
      .map((part) => part.trim())
  return { ...naming, fallback, parse: parsedBy(schema, fromText) }
}

const notUrl = 'must be an http or https URL without a query'

export function url(naming: Naming): Setting<string | undefined> {
  const schema = withRule(Type.String({ reason: notUrl }), urlFault)
  const parse = (given: unknown): Parsed<string> => {
    const parsed = parsedBy<string>(schema)(given)
    return 'fault' in parsed ? parsed : { value: parsed.value.replace(/\/+$/, '') }
  }
  return { ...naming, fallback: undefined, parse }
}

function urlFault(text: string): string | undefined {
  const parsed = text.length <= baseLimits.configurationTextLengthMax ? URL.parse(text) : null
  const isPlain = parsed?.search === '' && parsed.hash === '' && parsed.username === ''
  if (!isPlain || !/^https?:$/.test(parsed.protocol)) return notUrl
  const host = parsed.hostname.replace(/^\[|\]$/g, '')
  return isWildcard(host)
    ? `must name a host that callers can connect to, and ${host} is every address`
    : httpUrlFault(text)
}

export function trustedIssuers(naming: Naming): Setting<readonly TrustedIssuer[]> {
  return { ...naming, fallback: [], parse: parseTrustedIssuers }
}

export function masterKey(naming: Naming): Setting<Secret | undefined> {
  const reason = 'must be 32 bytes in base64; make one with `openssl rand -base64 32`'
  const schema = Type.String({ pattern: masterKeyForm, reason })
  const parse = (given: unknown): Parsed<Secret> => {
    const parsed = parsedBy<string>(schema, (text) => text.trim())(given)
    return 'fault' in parsed ? parsed : { value: new Secret(parsed.value) }
  }
  return { ...naming, fallback: undefined, parse }
}
