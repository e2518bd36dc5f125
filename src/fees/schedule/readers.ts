import { Type } from 'typebox'
import { Secret } from '../../platform/secret.ts'
import { parseDecimal } from '../../values/decimal.ts'
import {
  type AddFault,
  convert,
  type Environment,
  leaf,
  object,
  optional,
  type Reader,
  type ValueOf,
} from './document-reader.ts'

export const text = (pattern: string, maxLength = 2_000) =>
  leaf(Type.String({ pattern, maxLength }))
export const integer = (minimum: number, maximum = Number.MAX_SAFE_INTEGER) =>
  leaf(Type.Integer({ minimum, maximum }))

export const oneOf = <const L extends readonly string[]>(...values: L): Reader<L[number]> =>
  leaf(Type.Union(values.map((value: L[number]) => Type.Literal(value))))

/** Smallest units: a JSON integer, or digits in a string for integers above 2^53. */
export const units = convert(
  leaf(Type.Union([Type.Integer({ minimum: 0 }), Type.String({ pattern: '^[0-9]{1,30}$' })])),
  BigInt,
)
export const count = convert(integer(1, 1_000_000), BigInt)
export const basisPoints = convert(integer(0, 100_000), BigInt)
export const symbol = text('^[A-Z0-9]{2,12}$')
export const evmAddress = text('^0x[0-9a-fA-F]{40}$')
/** 32 bytes in base58; only the length is checked. */
export const solanaKey = leaf(Type.String({ minLength: 32, maxLength: 44 }))
export const decimalText = text('^[0-9]*\\.?[0-9]+$', 64)

/** Parses a decimal. Adds a fault and returns 0 if it is not above 0. */
export function positiveUnits(given: string, decimals: number, member: string, addFault: AddFault) {
  const parsed = parseDecimal(given, decimals)
  if (parsed.ok && parsed.units > 0n) return parsed.units
  addFault(member, `must be above 0, with at most ${decimals} decimals`)
  return 0n
}

export const endpointShape = {
  /** No user and password: URLs are logged, and `auth_env` names the credentials. */
  url: text('^https?://[^@\\s]+$'),
  auth_env: optional(text('^[A-Z][A-Z0-9_]{0,99}$')),
}

export type Endpoint = Readonly<ReturnType<typeof toEndpoint>>

type EndpointDocument = ValueOf<typeof endpointShape>

export function toEndpoint(document: EndpointDocument, addFault: AddFault, env: Environment) {
  const { url, auth_env } = document
  const value = auth_env === undefined ? undefined : env[auth_env]
  if (auth_env !== undefined && (value ?? '') === '') {
    addFault('auth_env', `names ${auth_env}, which is not set in the environment`)
  }
  /** The whole value of the Authorization header. */
  const authorization = value === undefined ? undefined : new Secret(value)
  return { url: url.replace(/\/+$/, ''), authorization }
}

export const endpoint = convert(object(endpointShape), toEndpoint)
