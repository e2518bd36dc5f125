import { routingNumberFault } from '@bursar/base'
import { Type } from 'typebox'
import {
  about,
  component,
  enumMember,
  identifierMember,
  nullable,
  objectMember,
  textMember,
} from '../members.ts'
import type { RecordFault, RecordInput } from '../resource.ts'

/** The shared objects of the contract, sections 2.1 to 2.4. */

const address = component(
  'Address',
  'A postal address. Lists of fiat accounts show its country only.',
  objectMember(
    {
      country: about('The country, such as USA.', textMember(1)),
      address1: Type.Optional(about('Street and number.', textMember())),
      address2: Type.Optional(about('A second line, such as a floor.', textMember())),
      city: Type.Optional(about('The city.', textMember())),
      province: Type.Optional(about('The province or state.', textMember())),
      zip_code: Type.Optional(about('The postal code.', textMember())),
    },
    'must be an address with at least a country, not null',
    { nullIsFault: true },
  ),
)

const routing = {
  type: about(
    'The kind of number: ABA in the United States, SWIFT elsewhere.',
    component('RoutingNumberType', 'The kind of a routing number.', enumMember(['ABA', 'SWIFT'])),
  ),
  number: about('The number that identifies the bank.', identifierMember),
  bankName: about('The name of the bank.', textMember(1)),
  bankAddress: about('The address of the bank.', address),
}

const routingDetails = component(
  'RoutingDetails',
  'The bank that receives a wire.',
  objectMember({
    routing_number_type: routing.type,
    routing_number: routing.number,
    bank_name: routing.bankName,
    bank_address: routing.bankAddress,
  }),
)

/** In the rtp network a routing number says which bank it is. */
const rtpRoutingDetails = component(
  'RtpRoutingDetails',
  'The bank that receives a real-time payment. Only the number is always there.',
  objectMember({
    routing_number_type: Type.Optional(routing.type),
    routing_number: routing.number,
    bank_name: Type.Optional(routing.bankName),
    bank_address: Type.Optional(routing.bankAddress),
  }),
)

/** The last four characters of an account number that has more. Blanks only group them. */
export function endOfNumber(number: string): string | undefined {
  const characters = [...number.replaceAll(/\s/g, '')]
  return characters.length > 4 ? characters.slice(-4).join('') : undefined
}

const accountNumber = about(
  'The account number. Lists of fiat accounts mask all but the last four characters.',
  identifierMember,
)
const ownerAddress = about('The address of the account’s owner.', address)

export const wireMembers = {
  account_number: accountNumber,
  fiat_account_owner_address: ownerAddress,
  routing_details: about('The bank of the account.', routingDetails),
  intermediary_routing_details: Type.Optional(
    about('The bank that passes the wire on, where one does.', routingDetails),
  ),
} as const

const wire = component('WireInstructions', 'An account for wires.', objectMember(wireMembers))

const accountOf = (name: string, network: string) =>
  component(name, `An account in ${network}.`, objectMember({ account_number: accountNumber }))

export const networkMembers = {
  wire: Type.Optional(about('Where wires go.', wire)),
  cbit: Type.Optional(
    about(
      'Where transfers in CBIT go.',
      component(
        'CbitInstructions',
        'A wallet in CBIT.',
        objectMember({ wallet_address: about('The address of the wallet.', identifierMember) }),
      ),
    ),
  ),
  dbs_act: Type.Optional(
    about('Where transfers in DBS ACT go.', accountOf('DbsActInstructions', 'DBS ACT')),
  ),
  cubix: Type.Optional(
    about(
      'Where transfers in CUBIX go.',
      component(
        'CubixInstructions',
        'An account in CUBIX.',
        objectMember({ account_id: about('The id of the account.', identifierMember) }),
      ),
    ),
  ),
  scb: Type.Optional(about('Where transfers in SCB go.', accountOf('ScbInstructions', 'SCB'))),
  rtp: Type.Optional(
    about(
      'Where real-time payments go.',
      component(
        'RtpInstructions',
        'An account for real-time payments.',
        objectMember({
          account_number: accountNumber,
          routing_details: about('The bank of the account.', rtpRoutingDetails),
          fiat_account_owner_address: Type.Optional(ownerAddress),
        }),
      ),
    ),
  ),
} as const

export const fiatNetworkInstructions = component(
  'FiatNetworkInstructions',
  'One member for each fiat network that applies.',
  objectMember(networkMembers),
)

const personDetails = component(
  'PersonDetails',
  'A person.',
  objectMember({
    first_name: about('The first name.', textMember(1)),
    last_name: about('The last name.', textMember(1)),
  }),
)

const institutionDetails = component(
  'InstitutionDetails',
  'A company or another institution.',
  objectMember({ name: about('The name of the institution.', textMember(1)) }),
)

export const fiatAccountOwner = component(
  'FiatAccountOwner',
  'A person or an institution. Lists of fiat accounts withhold both.',
  objectMember({
    person_details: Type.Optional(about('The person, where it is one.', personDetails)),
    institution_details: Type.Optional(
      about('The institution, where it is one.', institutionDetails),
    ),
  }),
)

/** Operators may send the contract's null for an institution's person. No answer has a null. */
export const importedOwner = objectMember({
  person_details: Type.Optional(
    component('ImportedPersonDetails', 'A person, or null.', nullable(personDetails)),
  ),
  institution_details: Type.Optional(institutionDetails),
})

/** The record with a null person left out. */
export function withoutNullPerson(record: RecordInput): RecordInput {
  const owner = objectAt(record, 'fiat_account_owner')
  if (owner?.person_details !== null) return record
  const { person_details: _, ...rest } = owner
  return { ...record, fiat_account_owner: rest }
}

/** The object under `member`. Undefined where it is absent or null. */
export function objectAt(parent: unknown, member: string): RecordInput | undefined {
  if (typeof parent !== 'object' || parent === null) return undefined
  const value = (parent as RecordInput)[member]
  return typeof value === 'object' && value !== null ? (value as RecordInput) : undefined
}

/** Members of a network that name a bank. */
export const routingParts = ['routing_details', 'intermediary_routing_details']

/** Routing numbers of the wire and rtp networks that no bank has. */
export function routingFaults(record: RecordInput): RecordFault[] {
  const networks = objectAt(record, 'fiat_network_instructions')
  return ['wire', 'rtp'].flatMap((network) =>
    routingParts.flatMap((part) => {
      const routing = objectAt(objectAt(networks, network), part)
      const number = routing?.routing_number
      if (typeof number !== 'string') return []
      const reason = routingNumberFault(routing?.routing_number_type, number)
      if (reason === undefined) return []
      const member = `fiat_network_instructions.${network}.${part}.routing_number`
      return [{ member, code: 'malformed' as const, reason }]
    }),
  )
}
