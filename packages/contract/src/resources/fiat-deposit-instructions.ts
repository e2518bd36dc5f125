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
import { defineResource, listView, type RecordFault, type RecordInput } from '../resource.ts'
import { networkTerms } from './account-terms.ts'
import {
  fiatAccountOwner,
  fiatNetworkInstructions,
  importedOwner,
  networkMembers,
  objectAt,
  routingFaults,
  withoutNullPerson,
} from './bank-details.ts'

const depositInstructionsStatuses = ['VALID', 'DEPRECATED'] as const

const NIL_UUID = '00000000-0000-0000-0000-000000000000'

const metadata = about('Client-specified pairs of texts.', metadataMember(50, 500, 500))

const memoId = Type.String({
  pattern: '^[A-Z0-9]{16}$',
  reason: 'must be 16 characters of A-Z and 0-9',
})

const answered = {
  id: about('Identifier of the instructions.', uuidMember),
  profile_id: about('Profile to deposit to.', identifierMember),
  customer_id: about('Customer to whom the instructions belong.', identifierMember),
  identity_id: about(
    'Identity of the user who deposits; the nil UUID where there is none.',
    identifierMember,
  ),
  account_id: Type.Optional(
    about('Account of the user, in integrations that deposit for end users.', identifierMember),
  ),
  ref_id: Type.Optional(about('Client-specified identifier, for idempotence.', identifierMember)),
  status: about(
    'VALID, or DEPRECATED when newer instructions replace these.',
    component(
      'FiatDepositInstructionsStatus',
      'The status of deposit instructions.',
      enumMember(depositInstructionsStatuses),
    ),
  ),
  memo_id: about('The memo that a wire must carry so that the deposit is credited.', memoId),
  fiat_network_instructions: about(
    'Where to send the money, by fiat network.',
    fiatNetworkInstructions,
  ),
  fiat_account_owner: Type.Optional(about('Who owns the account.', fiatAccountOwner)),
  metadata: Type.Optional(metadata),
  created_at: about('When the instructions were created.', timestampMember),
} as const

/** Operators may send these inside the networks (2.6). Responses show them at the top level. */
const hoisted = ['fiat_account_owner', 'metadata'] as const

/** How to send money to a profile (contract, section 2.6). */
const resource = defineResource({
  kind: 'fiat-deposit-instructions',
  table: 'fiat_deposit_instructions',
  noun: 'fiat deposit instructions',
  description: 'How to send money to a profile.',
  record: objectMember({
    ...answered,
    identity_id: Type.Optional(identifierMember),
    fiat_network_instructions: objectMember({
      ...networkMembers,
      fiat_account_owner: Type.Optional(importedOwner),
      metadata: Type.Optional(metadata),
    }),
    fiat_account_owner: Type.Optional(importedOwner),
    ...operatorMembers.versioned,
  }),
  columns: {
    memoId: 'memo_id',
    accountId: 'account_id',
    identityId: 'identity_id',
    profileId: 'profile_id',
  },
  orderBy: 'created_at',
  isPaidTo: true,
  uniqueMembers: ['memo_id'],
  statuses: depositInstructionsStatuses,
  terms: { letter: 'i', ...networkTerms },
  withheldMembers: ['source_version'],
  check: (record) => [...routingFaults(record), ...doubledMembers(record)],
  complete: (record) => withoutNullPerson(hoist(record)),
})

const full = listView('FiatDepositInstructions', resource, answered)

export const fiatDepositInstructions = { resource, full }

function doubledMembers(record: RecordInput): RecordFault[] {
  const networks = objectAt(record, 'fiat_network_instructions')
  return hoisted
    .filter((member) => record[member] !== undefined && networks?.[member] !== undefined)
    .map((member) => ({
      member: `fiat_network_instructions.${member}`,
      code: 'conflicting' as const,
      reason: `must not be given beside ${member} at the top level`,
    }))
}

function hoist(record: RecordInput): RecordInput {
  const { fiat_account_owner, metadata, ...networks } =
    objectAt(record, 'fiat_network_instructions') ?? {}
  return {
    identity_id: NIL_UUID,
    ...(fiat_account_owner !== undefined && { fiat_account_owner }),
    ...(metadata !== undefined && { metadata }),
    ...record,
    fiat_network_instructions: networks,
  }
}
