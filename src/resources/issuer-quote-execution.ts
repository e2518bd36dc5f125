import { Type } from 'typebox'
import {
  amountMember,
  enumMember,
  identifierMember,
  objectMember,
  signedAmountMember,
  timestampMember,
  uuidMember,
} from '../contract/members.ts'
import { operatorMembers } from '../contract/operator-members.ts'
import { defineResource, listView } from '../contract/resource.ts'

export const issuerQuoteStatuses = ['PENDING', 'COMPLETE', 'FAILED'] as const

const answered = {
  id: uuidMember,
  ref_id: Type.Optional(identifierMember),
  profile_id: identifierMember,
  asset_type: identifierMember,
  status: enumMember(issuerQuoteStatuses),
  principal: amountMember,
  fee: amountMember,
  token_principal: signedAmountMember,
  token_fee: amountMember,
  token_price: amountMember,
  created_at: timestampMember,
} as const

/** An executed issuer quote (contract, section 2.9). */
const resource = defineResource({
  kind: 'issuer-quote-executions',
  table: 'issuer_quote_execution',
  noun: 'issuer quote execution',
  record: objectMember({
    customer_id: identifierMember,
    ...answered,
    ...operatorMembers.versioned,
  }),
  columns: { profileId: 'profile_id', status: 'status' },
  orderBy: 'created_at',
  withheldMembers: ['customer_id', 'source_version'],
})

const full = listView('IssuerQuoteExecution', resource, answered)

export const issuerQuoteExecution = { resource, full }
