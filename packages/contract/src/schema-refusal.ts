import { hintFor, reasonOf, type Violation } from '@bursar/base'
import type { FaultCode } from './fault-codes.ts'

/** What is wrong with a parameter or a member. */
export type Refusal = {
  readonly code: FaultCode
  readonly reason: string
  /** The whole sentence of `detail`, where parameter and reason are not it. */
  readonly sentence?: string
}

/** The codes of the schema's keywords. The others are about the form of a text. */
const codes: Readonly<Record<string, FaultCode>> = {
  type: 'wrong_type',
  enum: 'unknown_value',
  const: 'unknown_value',
  minimum: 'out_of_range',
  maximum: 'out_of_range',
  minLength: 'wrong_length',
  maxLength: 'wrong_length',
  maxItems: 'too_many',
  maxProperties: 'too_many',
}

/**
 * The code of a violation by its keyword, and the reason that stands in the schema, with a hint
 * where the value is given.
 */
export function refusalOf(violation: Violation, value?: unknown): Refusal {
  const { keyword, parts, limit, message } = violation
  const code = codes[keyword] ?? 'malformed'
  if (keyword === '~refine') return { code, reason: message }
  // The reason of a text with a pattern is about the pattern.
  if (keyword === 'maxLength' && parts.at(-1)?.part.pattern !== undefined) {
    return { code, reason: `must have at most ${limit} characters` }
  }
  const reason = reasonOf(violation)?.part.reason ?? 'is not of its form'
  return { code, reason: `${reason}${hintFor(violation, value)}` }
}
