import Type from 'typebox'
import { Secret } from '../../platform/secret.ts'
import { largest } from '../../values/bounds.ts'
import { parseDecimal } from '../../values/decimal.ts'
import type { AddressKind } from '../addresses/address-check.ts'
import {
  type AddFault,
  type Check,
  convert,
  type Environment,
  leaf,
  object,
  optional,
  type Reader,
  record,
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
export function positiveUnits(
  given: string,
  decimals: number,
  member: string,
  addFault: AddFault,
): bigint {
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

export function toEndpoint(
  { url, auth_env }: ValueOf<typeof endpointShape>,
  addFault: AddFault,
  environment: Environment,
) {
  const value = auth_env === undefined ? undefined : environment[auth_env]
  if (auth_env !== undefined && (value ?? '') === '') {
    addFault('auth_env', `names ${auth_env}, which is not set in the environment`)
  }
  /** The whole value of the Authorization header. */
  const authorization = value === undefined ? undefined : new Secret(value)
  return { url: url.replace(/\/+$/, ''), authorization }
}

export const endpoint = convert(object(endpointShape), toEndpoint)

/** `always`, `never`, or a decimal from 0 to 1 with up to six digits, in millionths. */
export const probabilityPpm = convert(text('^(always|never|0|0?\\.[0-9]{1,6}|1)$'), (given) => {
  if (given === 'always' || given === '1') return 1_000_000n
  if (given === 'never' || given === '0') return 0n
  return BigInt(given.slice(given.indexOf('.') + 1).padEnd(6, '0'))
})

/** A figure of the schedule must be within the bounds for a node's figure. */
export const requireBounds =
  (rate: string, floor: string, cap: string): Check =>
  (members, addFault) => {
    const [value, least, most] = [members.get(rate), members.get(floor), members.get(cap)]
    if (typeof value !== 'bigint') return
    const isLow = typeof least === 'bigint' && value < least
    const isHigh = typeof most === 'bigint' && value > most
    if (isLow || isHigh) addFault(rate, `is not from ${floor} to ${cap}`)
  }

/** The smallest amount of the native coin that can be sent to an address of this kind. */
export type NativeUnitsMin = (address: AddressKind) => bigint

const outputKinds: ReadonlySet<string> = new Set<AddressKind>([
  ...(['p2pkh', 'p2sh', 'p2wpkh', 'p2wsh', 'p2tr', 'p2sh32'] as const),
  ...(['p2pkh-token-aware', 'p2sh-token-aware', 'p2sh32-token-aware'] as const),
])

/** A kind without its own limit takes the highest. Nodes do not relay smaller outputs. */
export const dustLimit = convert(
  record(() => units),
  (limits, addFault): NativeUnitsMin => {
    for (const kind of limits.keys()) {
      if (!outputKinds.has(kind)) addFault(kind, 'is no setting of the fee schedule')
    }
    const highest = largest(1n, ...limits.values())
    return (address) => limits.get(address) ?? highest
  },
)
