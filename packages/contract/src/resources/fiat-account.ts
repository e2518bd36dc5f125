import { Type } from 'typebox'
import {
  about,
  component,
  enumMember,
  identifierMember,
  metadataMember,
  objectMember,
  timestampMember,
  uuidMember,
} from '../members.ts'
import { operatorMembers } from '../operator-members.ts'
import { defineResource, listView, type RecordInput, unmaskedView } from '../resource.ts'
import { accountTerms } from './account-terms.ts'
import {
  endOfNumber,
  fiatAccountOwner,
  fiatNetworkInstructions,
  importedOwner,
  networkMembers,
  objectAt,
  routingFaults,
  wireMembers,
  withoutNullPerson,
} from './bank-details.ts'

const fiatAccountStatuses = ['PENDING', 'APPROVED', 'REJECTED'] as const

const status = about(
  'Whether the account may be used: APPROVED after a check, else PENDING or REJECTED.',
  component('FiatAccountStatus', 'The status of a fiat account.', enumMember(fiatAccountStatuses)),
)
const metadata = about('Client-specified pairs of texts.', metadataMember(6, 100, 100))

const answered = {
  id: about('Identifier of the fiat account.', uuidMember),
  ref_id: Type.Optional(about('Client-specified identifier, for idempotence.', identifierMember)),
  identity_id: Type.Optional(about('Identity of the user who owns the account.', identifierMember)),
  account_id: Type.Optional(
    about('Account of the user, in integrations that act for end users.', identifierMember),
  ),
  status,
  fiat_network_instructions: about(
    'How money reaches the account, by fiat network.',
    fiatNetworkInstructions,
  ),
  fiat_account_owner: Type.Optional(
    about('Who owns the account; empty in lists.', fiatAccountOwner),
  ),
  metadata: Type.Optional(metadata),
  created_at: about('When the account was created.', timestampMember),
  updated_at: Type.Optional(about('When the account was last changed.', timestampMember)),
} as const

const listedWire = component(
  'ListedWireInstructions',
  'An account for wires, as lists show it: masked, with the status and metadata of the account.',
  Type.Object({
    ...wireMembers,
    status: Type.Optional(status),
    metadata: Type.Optional(metadata),
  }),
)

const listedInstructions = about(
  'How money reaches the account, by fiat network; account numbers are masked.',
  component(
    'ListedFiatNetworkInstructions',
    'One member for each fiat network that applies, as lists show it.',
    Type.Object({
      ...networkMembers,
      wire: Type.Optional(about('Where wires go.', listedWire)),
    }),
  ),
)

const recordMembers = {
  customer_id: identifierMember,
  ...answered,
  fiat_account_owner: Type.Optional(importedOwner),
  ...operatorMembers.deletable,
} as const

/** A fiat account registered for transfers (contract, section 2.5). */
const resource = defineResource({
  kind: 'fiat-accounts',
  table: 'fiat_account',
  noun: 'fiat account',
  description: 'A fiat account registered for transfers.',
  record: objectMember(recordMembers),
  maskedRecord: Type.Object({ ...recordMembers, fiat_network_instructions: listedInstructions }),
  columns: {},
  orderBy: 'created_at',
  deletable: true,
  statuses: fiatAccountStatuses,
  terms: { letter: 'a', ...accountTerms },
  withheldMembers: ['customer_id', 'deleted_at', 'source_version'],
  check: routingFaults,
  complete: withoutNullPerson,
  mask: maskFiatAccount,
})

const full = unmaskedView('FiatAccount', resource, answered)

/** The view for lists (contract, section 2.3; decisions, section 5). */
const brief = listView('FiatAccountListItem', resource, {
  ...answered,
  fiat_network_instructions: listedInstructions,
})

export const fiatAccount = { resource, full, brief }

/**
 * Account numbers keep their last four characters and addresses their country. The owner is an
 * empty object, also for institutions. `wire` repeats the account's status and metadata.
 */
function maskFiatAccount(account: RecordInput): RecordInput {
  const networks = objectAt(account, 'fiat_network_instructions') ?? {}
  const masked = Object.fromEntries(
    Object.entries(networks).map(([network, details]) => [
      network,
      maskNetwork(network, details as RecordInput, account),
    ]),
  )
  return {
    ...account,
    fiat_network_instructions: masked,
    ...(account.fiat_account_owner !== undefined && { fiat_account_owner: {} }),
  }
}

function maskNetwork(network: string, details: RecordInput, account: RecordInput): RecordInput {
  const masked = maskMembers(details)
  if (network !== 'wire') return masked
  return {
    ...masked,
    status: account.status,
    ...(account.metadata !== undefined && { metadata: account.metadata }),
  }
}

const maskMembers = (details: RecordInput): RecordInput =>
  Object.fromEntries(
    Object.entries(details).map(([member, value]) => [member, maskMember(member, value)]),
  )

function maskMember(member: string, value: unknown): unknown {
  switch (member) {
    case 'account_number':
      return maskAccountNumber(String(value))
    case 'fiat_account_owner_address':
    case 'bank_address':
      return { country: (value as RecordInput).country }
    case 'routing_details':
    case 'intermediary_routing_details':
      return maskMembers(value as RecordInput)
    default:
      return value
  }
}

/** `12345678` → `XXXX5678`, `123456 78` → `XXXXX5678`. A number without an end is masked whole. */
function maskAccountNumber(accountNumber: string): string {
  const end = endOfNumber(accountNumber) ?? ''
  return 'X'.repeat([...accountNumber].length - [...end].length) + end
}
