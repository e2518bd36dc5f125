import { described, instant, memberOf, text, upTo1000, uuid } from '../contract/fields.ts'
import { anyOf, listOperation, notAfter, notBefore } from '../contract/operation.ts'
import { issuerQuoteExecution, issuerQuoteStatus } from '../resources/issuer-quote-execution.ts'

export const listIssuerQuoteExecutions = listOperation({
  id: 'listIssuerQuoteExecutions',
  summary: 'Issuer quote executions of the caller, newest first.',
  tag: 'Issuer quotes',
  path: '/v2/issuer-quotes',
  scope: 'exchange:read_issuer_quote_execution',
  query: {
    profile_id: described(text, 'Filter by target profile.'),
    status: upTo1000(memberOf(issuerQuoteStatus), 'Filter by status.'),
    'created_range.begin': described(instant, 'Created at or after this time.'),
    'created_range.end': described(instant, 'Created at or before this time.'),
    ids: upTo1000(uuid, 'Filter by ids of executions; an addition of ours.'),
    ref_ids: upTo1000(text, 'Filter by client-specified identifiers; an addition of ours.'),
  },
  filter: {
    profile_id: anyOf('profileId'),
    status: anyOf('status'),
    'created_range.begin': notBefore,
    'created_range.end': notAfter,
    ids: anyOf('id'),
    ref_ids: anyOf('refId'),
  },
  envelope: 'issuer_quote_executions',
  view: issuerQuoteExecution.full,
})
