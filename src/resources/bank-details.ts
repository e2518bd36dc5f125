import { Type } from 'typebox'
import {
  enumMember,
  identifierMember,
  nullable,
  objectMember,
  textMember,
} from '../contract/members.ts'
import type { RecordFault, RecordInput } from '../contract/resource.ts'

/** The shared objects of the contract, sections 2.1 to 2.4. */

const address = objectMember(
  {
    country: textMember(1),
    address1: Type.Optional(textMember()),
    address2: Type.Optional(textMember()),
    city: Type.Optional(textMember()),
    province: Type.Optional(textMember()),
    zip_code: Type.Optional(textMember()),
  },
  'must be an address with at least a country, not null',
)

const routingNumberTypes = ['ABA', 'SWIFT'] as const

const routingDetails = objectMember({
  routing_number_type: enumMember(routingNumberTypes),
  routing_number: identifierMember,
  bank_name: textMember(1),
  bank_address: address,
})

/** In the rtp network a routing number says which bank it is. */
const rtpRoutingDetails = objectMember({
  routing_number_type: Type.Optional(enumMember(routingNumberTypes)),
  routing_number: identifierMember,
  bank_name: Type.Optional(textMember(1)),
  bank_address: Type.Optional(address),
})

export const networkMembers = {
  wire: Type.Optional(
    objectMember({
      account_number: identifierMember,
      fiat_account_owner_address: address,
      routing_details: routingDetails,
      intermediary_routing_details: Type.Optional(routingDetails),
    }),
  ),
  cbit: Type.Optional(objectMember({ wallet_address: identifierMember })),
  dbs_act: Type.Optional(objectMember({ account_number: identifierMember })),
  cubix: Type.Optional(objectMember({ account_id: identifierMember })),
  scb: Type.Optional(objectMember({ account_number: identifierMember })),
  rtp: Type.Optional(
    objectMember({
      account_number: identifierMember,
      routing_details: rtpRoutingDetails,
      fiat_account_owner_address: Type.Optional(address),
    }),
  ),
} as const

export const fiatNetworkInstructions = objectMember(networkMembers)

const personDetails = objectMember({ first_name: textMember(1), last_name: textMember(1) })
const institutionDetails = objectMember({ name: textMember(1) })

export const fiatAccountOwner = objectMember({
  person_details: Type.Optional(personDetails),
  institution_details: Type.Optional(institutionDetails),
})

/** Operators may send the contract's null for an institution's person. No answer has a null. */
export const importedOwner = objectMember({
  person_details: Type.Optional(nullable(personDetails)),
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

/** ABA routing numbers of the wire and rtp networks that fail their checksum. */
export function routingFaults(record: RecordInput): RecordFault[] {
  const networks = objectAt(record, 'fiat_network_instructions')
  return ['wire', 'rtp'].flatMap((network) =>
    ['routing_details', 'intermediary_routing_details'].flatMap((part) => {
      const routing = objectAt(objectAt(networks, network), part)
      const number = routing?.routing_number
      if (routing?.routing_number_type !== 'ABA' || typeof number !== 'string') return []
      if (isAbaNumber(number)) return []
      const member = `fiat_network_instructions.${network}.${part}.routing_number`
      return [{ member, reason: 'must be nine digits with a valid ABA checksum' }]
    }),
  )
}

/** The ABA checksum: 3(d1+d4+d7) + 7(d2+d5+d8) + (d3+d6+d9) is a multiple of ten. */
function isAbaNumber(text: string): boolean {
  if (!/^[0-9]{9}$/.test(text)) return false
  const weights = [3, 7, 1]
  const sum = [...text].reduce(
    (total, digit, at) => total + Number(digit) * (weights[at % 3] ?? 0),
    0,
  )
  return sum % 10 === 0
}
