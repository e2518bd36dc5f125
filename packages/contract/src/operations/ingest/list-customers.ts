import { Type } from 'typebox'
import { described, numberOf, text } from '../../fields.ts'
import { contractLimits } from '../../limits.ts'
import { about, timestampMember } from '../../members.ts'
import { operation } from '../../operation.ts'
import { cursorGone, nextPageCursor, pageCursor } from '../../paging.ts'
import { recordKinds } from '../../resources/catalogue.ts'

const count = about(
  'Records that the customer’s list shows without a filter.',
  Type.Integer({ minimum: 0 }),
)

export const customerId = about('The id of the customer.', Type.String())
export const customerName = about(
  'Its display name, which staff have given it; no answer of /v2 has it.',
  Type.String(),
)

const customer = Type.Object({
  id: customerId,
  name: Type.Optional(customerName),
  counts: about(
    'By kind, how many of its records are neither deleted nor withdrawn; exact.',
    Type.Object(Object.fromEntries(recordKinds.map((kind) => [kind, count]))),
  ),
  changed_at: Type.Optional(
    about('When a record of the customer was last stored or removed.', timestampMember),
  ),
  kept_since: about(
    'By kind, from when on its records are known. A kind of which it never had a record is absent.',
    Type.Object(
      Object.fromEntries(recordKinds.map((kind) => [kind, Type.Optional(timestampMember)])),
    ),
  ),
})

const { customersPageMax } = contractLimits

export const listCustomers = operation({
  id: 'listCustomers',
  title: 'List customers',
  summary:
    'Returns the customers, by id in any case, with how many records each has. With `prefix`, those whose id starts with it come first, then those with a word of the display name that does. A page may have fewer than `limit`, also none, and a `next_page_cursor`. A client that is bound to a customer sees it alone.',
  tag: 'Customers',
  method: 'GET',
  path: '/ingest/v1/customers',
  scope: 'ingest:search',
  query: {
    prefix: described(text, 'The start of an id or of a word of a display name, in any case.'),
    limit: described(
      numberOf(
        Type.Integer({
          format: 'int32',
          minimum: 1,
          maximum: customersPageMax,
          default: customersPageMax,
          reason: `must be between 1 and ${customersPageMax}`,
        }),
      ),
      'How many customers a page has at most.',
    ),
    page_cursor: pageCursor,
  },
  answers: { 410: cursorGone },
  view: {
    name: 'CustomersPage',
    schema: Type.Object(
      {
        customers: about('The customers.', Type.Array(customer, { maxItems: customersPageMax })),
        ...nextPageCursor,
      },
      { description: 'A page of customers.' },
    ),
  },
})
