import { Type } from 'typebox'
import {
  enumMember,
  identifierMember,
  metadataMember,
  objectMember,
  timestampMember,
  uuidMember,
} from '../contract/members.ts'
import { operatorMembers } from '../contract/operator-members.ts'
import { defineResource, listView, type RecordInput, unmaskedView } from '../contract/resource.ts'
import {
  fiatAccountOwner,
  fiatNetworkInstructions,
  importedOwner,
  networkMembers,
  objectAt,
  routingFaults,
  withoutNullPerson,
} from './bank-details.ts'

export const fiatAccountStatuses = ['PENDING', 'APPROVED', 'REJECTED'] as const

const status = enumMember(fiatAccountStatuses)
const metadata = metadataMember(6, 100, 100)

const answered = {
  id: uuidMember,
  ref_id: Type.Optional(identifierMember),
  identity_id: Type.Optional(identifierMember),
  account_id: Type.Optional(identifierMember),
  status,
  fiat_network_instructions: fiatNetworkInstructions,
  fiat_account_owner: Type.Optional(fiatAccountOwner),
  metadata: Type.Optional(metadata),
  created_at: timestampMember,
  updated_at: Type.Optional(timestampMember),
} as const

/** A fiat account registered for transfers (contract, section 2.5). */
const resource = defineResource({
  kind: 'fiat-accounts',
  table: 'fiat_account',
  noun: 'fiat account',
  record: objectMember({
    customer_id: identifierMember,
    ...answered,
    fiat_account_owner: Type.Optional(importedOwner),
    ...operatorMembers.deletable,
  }),
  columns: {},
  orderBy: 'created_at',
  deletable: true,
  withheldMembers: ['customer_id', 'deleted_at', 'source_version'],
  check: routingFaults,
  complete: withoutNullPerson,
  mask: maskFiatAccount,
})

const full = unmaskedView('FiatAccount', resource, answered)

const { wire } = networkMembers

/** The view for lists (contract, section 2.3; decisions, section 5). */
const brief = listView('FiatAccountListItem', resource, {
  ...answered,
  fiat_network_instructions: Type.Object({
    ...networkMembers,
    wire: Type.Optional(
      Type.Object({
        ...wire.properties,
        status: Type.Optional(status),
        metadata: Type.Optional(metadata),
      }),
    ),
  }),
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

/** `12345678` → `XXXX5678`. Four code points or fewer are masked whole. */
function maskAccountNumber(accountNumber: string): string {
  const characters = [...accountNumber]
  const shown = characters.length > 4 ? characters.slice(-4) : []
  return 'X'.repeat(characters.length - shown.length) + shown.join('')
}
