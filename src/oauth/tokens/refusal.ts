/**
 * Why a token is refused. The log names the cause. The answer names `expired` alone, since other
 * causes would help a forger.
 */
export type Refusal =
  | 'malformed'
  | 'unknown issuer'
  | 'unknown key'
  | 'wrong algorithm'
  | 'bad signature'
  | 'wrong type'
  | 'wrong audience'
  | 'wrong claims'
  | 'not client credentials'
  | 'no grant'
  | 'expired'
  | 'not yet valid'
  | 'lives too long'
  | 'revoked'
  | 'unknown client'
  | 'disabled client'
  | 'client of the operator'

export const isRefusal = <T extends object>(result: T | Refusal): result is Refusal =>
  typeof result === 'string'
