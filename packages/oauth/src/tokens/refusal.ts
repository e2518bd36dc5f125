/**
 * Why a token is refused. The log and the metrics name the cause. The answer names `expired` alone,
 * since other causes would help a forger.
 */
export const refusals = [
  'malformed',
  'unknown issuer',
  'unknown key',
  'wrong algorithm',
  'bad signature',
  'wrong type',
  'wrong audience',
  'wrong claims',
  'not client credentials',
  'no grant',
  'expired',
  'not yet valid',
  'lives too long',
  'revoked',
  'unknown client',
  'disabled client',
  'client of the operator',
] as const

export type Refusal = (typeof refusals)[number]

export const isRefusal = <T extends object>(result: T | Refusal): result is Refusal =>
  typeof result === 'string'
