import type { OperatorInput } from '../contract/operation.ts'
import { noneFound } from '../contract/problem.ts'
import type { Resource } from '../contract/resource.ts'
import type { RecordName } from '../store/records/history.ts'

/** The id in the path. */
export const idOf = ({ parameters }: OperatorInput): string => String(parameters.get('id'))

/**
 * The record that a caller may see by this id. A read for a bound client names its customer, so the
 * work for a foreign record is that for an unknown one.
 */
export const nameOf = (input: OperatorInput): RecordName => ({
  id: idOf(input),
  customerId: input.caller.boundTo ?? undefined,
})

/** What was read by the name, or a 404. */
export function requireFound<R>(resource: Resource, input: OperatorInput, found: R | undefined): R {
  if (found !== undefined) return found
  throw noneFound(resource.noun, idOf(input))
}
