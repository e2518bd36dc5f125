import { type ParameterFault, Problem } from '../../contract/problem.ts'

/** One 400 for all faults. `meta.errors` has codes for programs and no parameter's name twice. */
export function invalidParameters(faults: readonly ParameterFault[]): Problem {
  const detail = faults
    .map(({ parameter, reason, sentence }) => sentence ?? `${parameter} ${reason}`)
    .join('; ')
  const errors = faults.map(({ parameter, code, reason }) => ({ parameter, code, reason }))
  return new Problem(400, detail, { meta: { errors } })
}
