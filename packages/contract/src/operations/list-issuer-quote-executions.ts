import { described, memberOf, text, upTo1000, uuid } from '../fields.ts'
import { anyOf, bound, listOperation } from '../operation.ts'
import { issuerQuoteExecution, issuerQuoteStatus } from '../resources/issuer-quote-execution.ts'

export const listIssuerQuoteExecutions = listOperation({
  id: 'listIssuerQuoteExecutions',
  summary: 'Issuer quote executions of the caller, newest first.',
  tag: 'Issuer quotes',
  path: '/v2/issuer-quotes',
  scope: 'exchange:read_issuer_quote_execution',
  filters: {
    profile_id: anyOf('profileId', described(text, 'Filter by target profile.')),
    status: anyOf('status', upTo1000(memberOf(issuerQuoteStatus), 'Filter by status.')),
    'created_range.begin': bound('gte', 'Created at or after this time.'),
    'created_range.end': bound('lte', 'Created at or before this time.'),
    ids: anyOf('id', upTo1000(uuid, 'Filter by ids of executions; an addition of ours.')),
    ref_ids: anyOf(
      'refId',
      upTo1000(text, 'Filter by client-specified identifiers; an addition of ours.'),
    ),
  },
  envelope: 'issuer_quote_executions',
  view: issuerQuoteExecution.full,
})
