import { Type } from 'typebox'
import {
  about,
  amountMember,
  component,
  enumMember,
  identifierMember,
  objectMember,
  signedAmountMember,
  timestampMember,
  uuidMember,
} from '../members.ts'
import { operatorMembers } from '../operator-members.ts'
import { defineResource, listView } from '../resource.ts'

const issuerQuoteStatuses = ['PENDING', 'COMPLETE', 'FAILED'] as const

export const issuerQuoteStatus = component(
  'IssuerQuoteStatus',
  'The status of an execution.',
  enumMember(issuerQuoteStatuses),
)

const answered = {
  id: about('Identifier of the execution.', uuidMember),
  ref_id: Type.Optional(about('Client-specified identifier, for idempotence.', identifierMember)),
  profile_id: about('The target profile.', identifierMember),
  asset_type: about('The asset’s code, such as USDG.', identifierMember),
  status: about(
    'Whether the execution is done: COMPLETE or FAILED, else PENDING.',
    issuerQuoteStatus,
  ),
  principal: about('The principal, without the fee.', amountMember),
  fee: about('The fee.', amountMember),
  token_principal: about('The principal in tokens; negative for a redemption.', signedAmountMember),
  token_fee: about('The fee in tokens.', amountMember),
  token_price: about('The price of one token.', amountMember),
  created_at: about('When the quote was executed.', timestampMember),
} as const

/** An executed issuer quote (contract, section 2.9). */
const resource = defineResource({
  kind: 'issuer-quote-executions',
  table: 'issuer_quote_execution',
  noun: 'issuer quote execution',
  description: 'An executed issuer quote: a mint or a redemption.',
  record: objectMember({
    customer_id: identifierMember,
    ...answered,
    ...operatorMembers.versioned,
  }),
  columns: { profileId: 'profile_id', status: 'status' },
  orderBy: 'created_at',
  statuses: issuerQuoteStatuses,
  withheldMembers: ['customer_id', 'source_version'],
})

const full = listView('IssuerQuoteExecution', resource, answered)

export const issuerQuoteExecution = { resource, full }
