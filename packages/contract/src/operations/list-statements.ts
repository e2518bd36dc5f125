import { described, memberOf, text, upTo1000, uuid } from '../fields.ts'
import { anyOf, listOperation, namesTenant } from '../operation.ts'
import { statement, statementStatus } from '../resources/statement.ts'

export const listStatements = listOperation({
  id: 'listStatements',
  summary: 'Statements of the caller, latest period first.',
  tag: 'Statements',
  path: '/v2/statements',
  scope: 'statements:read_statement',
  filters: {
    customer_id: namesTenant(
      described(text, 'The caller’s own customer id; another’s gives an empty page.'),
    ),
    ref_ids: anyOf('refId', upTo1000(text, 'Filter by client-specified identifiers.')),
    statement_ids: anyOf('id', upTo1000(uuid, 'Filter by ids of statements.')),
    statuses: anyOf(
      'status',
      upTo1000(memberOf(statementStatus), 'Filter by status; all where absent.'),
    ),
  },
  required: ['customer_id'],
  envelope: 'statements',
  view: statement.full,
})
