import { Type } from 'typebox'
import { about } from '../../members.ts'
import { control, customerField, momentMember } from './sandbox-members.ts'

export const listSandboxRequests = control({
  id: 'listSandboxRequests',
  summary:
    'Lists the last 1,000 requests of a customer, newest first. A request whose token is refused belongs to nobody.',
  tag: 'Requests',
  method: 'GET',
  path: '/sandbox/requests',
  query: { customer_id: customerField },
  required: ['customer_id'],
  answers: { 404: { description: 'The sandbox has no such customer.' } },
  view: {
    name: 'SandboxRequests',
    schema: Type.Object(
      {
        requests: about(
          'The requests.',
          Type.Array(
            Type.Object({
              at: momentMember('When it was answered, by the clock of the sandbox.'),
              operation: about('The operation, or the path of the token endpoint.', Type.String()),
              method: about('The method.', Type.String()),
              client_id: Type.Optional(about('The client.', Type.String())),
              status: about('The status.', Type.Integer()),
              problem: Type.Optional(
                about('The type of the problem, or its title.', Type.String()),
              ),
              fault: Type.Optional(about('The kind of fault that it met.', Type.String())),
              ignored_parameters: Type.Optional(
                about(
                  'Query parameters that the operation does not know.',
                  Type.Array(Type.String()),
                ),
              ),
              joined_parameters: Type.Optional(
                about(
                  'Query parameters with a value that looks like several, which no record has.',
                  Type.Array(Type.String()),
                ),
              ),
              duration_ms: about('How long it took.', Type.Number()),
              request_id: about('The same as in the X-Request-Id header.', Type.String()),
            }),
          ),
        ),
      },
      { description: 'Requests of a customer, newest first.' },
    ),
  },
})
