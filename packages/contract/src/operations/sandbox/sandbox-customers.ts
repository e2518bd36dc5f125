import { Type } from 'typebox'
import { described, enumOf, text } from '../../fields.ts'
import { contractLimits } from '../../limits.ts'
import { about } from '../../members.ts'
import { control, customerField, customerMember } from './sandbox-members.ts'

export const createSandboxCustomer = control({
  id: 'createSandboxCustomer',
  summary:
    'Creates a customer that shares nothing with others, and its client. The same seed gives the same ids, secret and records.',
  tag: 'Customers',
  method: 'POST',
  path: '/sandbox/customers',
  body: {
    closed: true,
    members: {
      seed: described(text, 'What every id derives from. Random where it is absent.'),
      records: described(
        enumOf(['none', 'sample'], 'none'),
        '`sample`: 324 records of all kinds, such as Borealis has. `none`: no record.',
      ),
    },
    required: [],
    optional: true,
  },
  answers: {
    201: {},
    409: { description: 'The customer of this seed exists, or there are as many as may be.' },
  },
  view: {
    name: 'SandboxCustomer',
    schema: Type.Object(
      {
        customer_id: customerMember,
        client_id: about('Its client, which has every scope of a customer.', Type.String()),
        client_secret: about('The secret of the client.', Type.String()),
        seed: about('The seed, also where it was drawn at random.', Type.String()),
      },
      { description: 'A customer of the sandbox and its client.' },
    ),
  },
})

export const deleteSandboxCustomer = control({
  id: 'deleteSandboxCustomer',
  summary: 'Removes a customer with its records, fees, clients, faults and list of requests.',
  tag: 'Customers',
  method: 'DELETE',
  path: '/sandbox/customers/:customer',
  parameters: { customer: customerField },
  answers: { 404: { description: 'The sandbox has no such customer.' } },
})

export const listSandboxCustomers = control({
  id: 'listSandboxCustomers',
  summary: 'Lists the customers that the sandbox has, by their ids. No answer repeats a secret.',
  tag: 'Customers',
  method: 'GET',
  path: '/sandbox/customers',
  view: {
    name: 'SandboxCustomers',
    schema: Type.Object(
      {
        customers: about(
          'The customers, at most 2,000.',
          Type.Array(Type.Object({ customer_id: customerMember }), {
            maxItems: contractLimits.sandboxCustomersMax,
          }),
        ),
      },
      { description: 'Customers of the sandbox.' },
    ),
  },
})
