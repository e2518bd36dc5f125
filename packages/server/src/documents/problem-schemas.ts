import {
  about,
  component,
  contractLimits,
  enumMember,
  faultCodes,
  recordFaultCodes,
} from '@bursar/contract'
import { type TSchema, Type } from 'typebox'

/** The schema of the problems of an API, with the facts that several of them have. */
const problemOf = (facts: Readonly<Record<string, TSchema>>): TSchema =>
  component(
    'Problem',
    'An error (RFC 9457).',
    Type.Object({
      type: about('`about:blank`, or the path of the problem’s own page.', Type.String()),
      title: about('The HTTP reason of the status.', Type.String()),
      status: about('The HTTP status.', Type.Integer()),
      detail: about('What to change.', Type.String()),
      instance: about('The path of the request.', Type.String()),
      request_id: about('The same as in the X-Request-Id header.', Type.String()),
      meta: Type.Optional(
        about(
          'Facts for programs. Each problem type has its own, named on its page.',
          component(
            'ProblemMeta',
            'Facts about a problem.',
            Type.Object(facts, { additionalProperties: true }),
          ),
        ),
      ),
    }),
  )

const meanings = (codes: Readonly<Record<string, string>>): string =>
  Object.entries(codes)
    .map(([code, meaning]) => `\`${code}\`: ${meaning}`)
    .join(' ')

/** Within `/v2` codes are only added, so a client must expect others. */
const parameterFault = component(
  'ParameterFault',
  'What is wrong with one parameter or body member.',
  Type.Object({
    parameter: about('The parameter or body member.', Type.String()),
    code: about(
      `For programs. ${meanings(faultCodes)} Later versions may add codes.`,
      Type.String(),
    ),
    reason: about('For people, without the name of the parameter.', Type.String()),
  }),
)

export const customerProblem = problemOf({
  errors: Type.Optional(
    about(
      'Every parameter at fault.',
      Type.Array(parameterFault, { maxItems: contractLimits.filterEntriesMax }),
    ),
  ),
})

/** The operator's API and the sandbox store records, so a fault may be one of a record. */
const fault = component(
  'Fault',
  'What is wrong with one parameter, with one member of a record, or with the body as a whole.',
  Type.Object({
    parameter: Type.Optional(
      about('The parameter or body member. Absent where `member` is given.', Type.String()),
    ),
    line: Type.Optional(about('The line of a stream of records.', Type.Integer({ minimum: 1 }))),
    member: Type.Optional(
      about(
        'The path of the member of a record. `record` is the record as a whole, `body` the stream.',
        Type.String(),
      ),
    ),
    code: about(
      `For programs. ${meanings(recordFaultCodes)}`,
      enumMember(Object.keys(recordFaultCodes)),
    ),
    reason: about('For people, without the name of the parameter or member.', Type.String()),
  }),
)

export const operatorProblem = problemOf({
  errors: Type.Optional(
    about(
      'Every parameter at fault, or the first faults of the records.',
      Type.Array(fault, { maxItems: contractLimits.faultsAnsweredMax }),
    ),
  ),
  fault_count: Type.Optional(
    about('How many faults the records have; absent for parameters.', Type.Integer({ minimum: 1 })),
  ),
})
