import type { RecordInput } from '../contract/resource.ts'
import { cycle, drawBytes, drawDigits, drawUuid } from './seeded.ts'

/** Fictional banks with valid ABA checksums and well-formed SWIFT codes. */
const banks = [
  { routing_number_type: 'ABA', routing_number: '021000021', bank_name: 'First Sample Bank' },
  { routing_number_type: 'ABA', routing_number: '011401533', bank_name: 'Harbour Trust' },
  {
    routing_number_type: 'SWIFT',
    routing_number: 'SAMPDEFFXXX',
    bank_name: 'Müller & Söhne Privatbank',
  },
] as const

/** Plain ASCII, because strict clients refuse other letters in an address. */
function bankAddress(at: number): RecordInput {
  return cycle(
    [
      {
        country: 'USA',
        address1: '1 Sample Street',
        address2: 'Floor 7',
        city: 'New York',
        province: 'NY',
        zip_code: '10004',
      },
      {
        country: 'USA',
        address1: '20 Harbour Way',
        city: 'Boston',
        province: 'MA',
        zip_code: '02110',
      },
      { country: 'DEU', address1: 'Koenigsallee 3', city: 'Duesseldorf', zip_code: '40212' },
      { country: 'SGP' },
    ],
    at,
  )
}

const routing = (at: number): RecordInput => ({
  ...cycle(banks, at),
  bank_address: bankAddress(at),
})

/** Account numbers of every length that masking distinguishes: over five, five, four, fewer. */
const accountNumber = (name: string, at: number): string =>
  drawDigits(`${name} account number`, cycle([10, 12, 5, 4, 8, 1, 17], at))

export function fiatNetwork(name: string, at: number): RecordInput {
  const account_number = accountNumber(name, at)
  const wire = {
    account_number,
    fiat_account_owner_address: bankAddress(at + 1),
    routing_details: routing(at),
    ...(at % 6 === 1 && { intermediary_routing_details: routing(at + 2) }),
  }
  switch (at % 8) {
    case 1:
      return { cbit: { wallet_address: `0x${drawBytes(`${name} wallet`).toString('hex', 0, 20)}` } }
    case 2:
      return { dbs_act: { account_number } }
    case 3:
      return { cubix: { account_id: drawUuid(`${name} cubix`) } }
    case 4:
      return { scb: { account_number } }
    case 5:
      return {
        rtp: {
          account_number,
          routing_details: routing(0),
          fiat_account_owner_address: bankAddress(at),
        },
      }
    case 6:
      return { wire, rtp: { account_number, routing_details: { routing_number: '011401533' } } }
    default:
      return { wire }
  }
}

export function owner(at: number): RecordInput {
  return cycle(
    [
      { person_details: { first_name: 'Ada', last_name: 'Example' } },
      { institution_details: { name: 'Example Holdings Ltd' } },
      { person_details: { first_name: 'Zoë', last_name: 'O’Sample' } },
      { institution_details: { name: 'サンプル株式会社' } },
    ],
    at,
  )
}
