import {
  baseLimits,
  decimalCharactersMax,
  decimalPattern,
  httpUrlFault,
  parseDecimal,
  Secret,
} from '@bursar/base'
import { type Static, type TProperties, type TSchema, Type } from 'typebox'
import type { AddFault, Environment } from './document-parts.ts'

/** An object with these members and no others, so that a misspelt key is a fault. */
export const object = <P extends TProperties>(properties: P) =>
  Type.Object(properties, { additionalProperties: false, reason: 'must be an object' })

/** An object with any names. */
export const record = <S extends TSchema>(schema: S) =>
  Type.Record(Type.String({ pattern: '^[\\s\\S]*$' }), schema, { reason: 'must be an object' })

export const list = <S extends TSchema>(schema: S, maxItems: number) =>
  Type.Array(schema, { maxItems, reason: `must be a list of at most ${maxItems}` })

export const text = (pattern: string, maxLength: number = baseLimits.configurationTextLengthMax) =>
  Type.String({ pattern, maxLength })

export const integer = (minimum: number, maximum = Number.MAX_SAFE_INTEGER) =>
  Type.Integer({ minimum, maximum })

const reason = 'is none of the values that may stand here'

export const oneOf = <const L extends string[]>(...values: L) =>
  Type.Enum<L>([...values], { reason })

/** Smallest units: a JSON integer, or digits in a string for integers above 2^53. */
export const units = Type.Union(
  [Type.Integer({ minimum: 0 }), Type.String({ pattern: '^[0-9]{1,30}$' })],
  { reason },
)
export const count = integer(1, 1_000_000)
export const basisPoints = integer(0, 100_000)
export const symbol = text('^[A-Z0-9]{2,12}$')
export const evmAddress = text('^0x[0-9a-fA-F]{40}$')
/** 32 bytes in base58; only the length is checked. */
export const solanaKey = Type.String({ minLength: 32, maxLength: 44 })
export const decimalText = text(decimalPattern, decimalCharactersMax)

/** The figures of an object as bigints. */
export const bigints = <M extends Readonly<Record<string, number | string>>>(members: M) =>
  Object.fromEntries(Object.entries(members).map(([name, figure]) => [name, BigInt(figure)])) as {
    readonly [N in keyof M]: bigint
  }

/** Parses a decimal. Adds a fault and returns 0 if it is not above 0. */
export function positiveUnits(given: string, decimals: number, member: string, addFault: AddFault) {
  const parsed = parseDecimal(given, decimals)
  if (parsed.ok && parsed.units > 0n) return parsed.units
  addFault(member, `must be above 0, with at most ${decimals} decimals`)
  return 0n
}

export const endpointMembers = {
  /** No user and password: URLs are logged, and `auth_env` names the credentials. */
  url: Type.Refine(
    text('^https?://[^@\\s]+$'),
    (url) => urlFault(url) === undefined,
    (url) => urlFault(url) ?? '',
  ),
  auth_env: Type.Optional(text('^[A-Z][A-Z0-9_]{0,99}$')),
}

/** The parser would change the braces of a price source. */
const urlFault = (url: string) => httpUrlFault(url.replaceAll('{symbol}', 'symbol'))
export const endpoint = object(endpointMembers)

export type Endpoint = Readonly<ReturnType<typeof toEndpoint>>

export function toEndpoint(
  document: Static<typeof endpoint>,
  addFault: AddFault,
  env: Environment,
) {
  const { url, auth_env } = document
  // A blank or line end after a key is no part of it, as in a file with the master key.
  const value = auth_env === undefined ? undefined : env[auth_env]?.trim()
  if (auth_env !== undefined && (value ?? '') === '') {
    addFault('auth_env', `names ${auth_env}, which is not set in the environment`)
  }
  /** The whole value of the Authorization header. */
  const authorization = value === undefined ? undefined : new Secret(value)
  return { url: url.replace(/\/+$/, ''), authorization }
}
