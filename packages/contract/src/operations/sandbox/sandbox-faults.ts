import { limitsOf } from '@bursar/base'
import { Type } from 'typebox'
import { bodyNumber, described, enumOf, uuid, wholeNumber } from '../../fields.ts'
import { contractLimits } from '../../limits.ts'
import { about, uuidMember } from '../../members.ts'
import { operations } from '../index.ts'
import { control, customerField, customerMember } from './sandbox-members.ts'

const limits = limitsOf({
  /** How often one fault of a sandbox may answer. */
  sandboxFaultTimesMax: 10_000,
  /** Clients give up after 30 s at most, and Retry-After is rarely longer than an hour. */
  sandboxDelayMsMax: 30_000,
  sandboxRetryAfterMax: 3600,
})

export const faultKinds = ['status', 'delay', 'cut', 'truncated', 'expired_token'] as const

/** The statuses that a fault answers, which servers and proxies in front of them give. */
const faultStatuses = [408, 429, 500, 502, 503, 504]
const statusNames = '408, 429, 500, 502, 503 or 504'

/** The log and the list of requests call the token endpoint by its path. */
export const tokenOperation = '/oauth2/token'

const operationIds = [...operations.map(({ id }) => id), tokenOperation]

const whole = (description: string) => about(description, Type.Integer())

const fault = Type.Object(
  {
    id: about('Identifier of the fault.', uuidMember),
    customer_id: customerMember,
    operation: Type.Optional(
      about('The operation; absent for every one under `/v2`.', Type.String()),
    ),
    kind: about('What happens.', Type.Enum([...faultKinds])),
    status: Type.Optional(whole('The status that is answered.')),
    retry_after: Type.Optional(whole('The seconds of `Retry-After`.')),
    delay_ms: Type.Optional(whole('How long a request waits first.')),
    times: whole('How many requests it was made for.'),
    remaining: whole('How many requests it still awaits.'),
  },
  { description: 'What happens to the next requests of a customer.' },
)

export const createSandboxFault = control({
  id: 'createSandboxFault',
  summary:
    'Makes the next requests of one customer fail. Of several faults that match, the oldest comes first.',
  tag: 'Faults',
  method: 'POST',
  path: '/sandbox/faults',
  body: {
    closed: true,
    members: {
      customer_id: customerField,
      operation: described(
        enumOf(operationIds),
        'The operation that fails, by its `operationId`, or `/oauth2/token`. Every one under `/v2` where it is absent.',
      ),
      kind: described(
        enumOf(faultKinds),
        '`status`: a problem with this status. `delay`: the answer is late. `cut`: the connection closes without an answer. `truncated`: it closes in the middle of the body. `expired_token`: 401, as for a token that has expired.',
      ),
      status: described(
        bodyNumber(Type.Integer({ enum: faultStatuses, reason: `must be ${statusNames}` })),
        `For the kind \`status\`: ${statusNames}.`,
      ),
      retry_after: described(
        wholeNumber(0, limits.sandboxRetryAfterMax),
        'The seconds of `Retry-After`, for the statuses 429 and 503. By default 1.',
      ),
      delay_ms: described(
        wholeNumber(0, limits.sandboxDelayMsMax),
        'How long each request waits first, whatever its fault.',
      ),
      times: described(
        wholeNumber(1, limits.sandboxFaultTimesMax),
        'How many requests fail. By default 1.',
      ),
    },
    required: ['customer_id', 'kind'],
  },
  answers: {
    201: {},
    404: { description: 'The sandbox has no such customer.' },
    409: { description: 'The customer has as many faults as it may. Delete some.' },
  },
  view: { name: 'SandboxFault', schema: fault },
})

const query = {
  customer_id: described(customerField, 'Only faults of this customer.'),
}

export const listSandboxFaults = control({
  id: 'listSandboxFaults',
  summary: 'Lists the faults that still await requests, oldest first.',
  tag: 'Faults',
  method: 'GET',
  path: '/sandbox/faults',
  query,
  view: {
    name: 'SandboxFaults',
    schema: Type.Object(
      {
        faults: about(
          'The oldest faults, at most 1,000.',
          Type.Array(fault, { maxItems: contractLimits.sandboxFaultsListed }),
        ),
      },
      { description: 'Faults of the sandbox.' },
    ),
  },
})

export const deleteSandboxFault = control({
  id: 'deleteSandboxFault',
  summary: 'Deletes one fault. The requests that it still awaits are answered as usual.',
  tag: 'Faults',
  method: 'DELETE',
  path: '/sandbox/faults/:id',
  parameters: { id: described(uuid, 'The fault, as its creation has answered it.') },
  answers: {
    404: { description: 'No fault has this id. It may have met all of its requests.' },
  },
})

export const deleteSandboxFaults = control({
  id: 'deleteSandboxFaults',
  summary: 'Deletes the faults of one customer, or of all.',
  tag: 'Faults',
  method: 'DELETE',
  path: '/sandbox/faults',
  query,
})
