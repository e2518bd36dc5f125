import type { RecordInput } from '@bursar/contract'
import { ownerAddress } from './owners.ts'
import { cycle, drawBytes, drawDigits, drawUuid } from './seeded.ts'

type Bank = RecordInput & { readonly bank_name: string; readonly routing_number: string }

/**
 * Invented banks. ABA numbers that begin with 80 are of traveller’s cheques, and of no bank.
 * A SWIFT code whose eighth character is 0 is one for tests.
 */
const tidewell: Bank = {
  routing_number_type: 'ABA',
  routing_number: '800012340',
  bank_name: 'Tidewell National Bank',
  bank_address: {
    country: 'USA',
    address1: '140 Pier Street',
    address2: 'Floor 7',
    city: 'New York',
    province: 'NY',
    zip_code: '10004',
  },
}
const merrow: Bank = {
  routing_number_type: 'ABA',
  routing_number: '800114727',
  bank_name: 'Merrow Valley Bank, N.A.',
  bank_address: {
    country: 'USA',
    address1: '1 Millrace Street',
    city: 'Boston',
    province: 'MA',
    zip_code: '02109',
  },
}
const stonebridge: Bank = {
  routing_number_type: 'ABA',
  routing_number: '800205186',
  bank_name: 'Stonebridge Trust Company',
  bank_address: {
    country: 'USA',
    address1: '600 Prairie Avenue',
    city: 'Omaha',
    province: 'NE',
    zip_code: '68102',
  },
}
const ehrenfurt: Bank = {
  routing_number_type: 'SWIFT',
  routing_number: 'EHRFDEF0XXX',
  bank_name: 'Bankhaus Ehrenfurt & Söhne AG',
  bank_address: { country: 'DEU', address1: 'Lindenallee 8', city: 'Frankfurt', zip_code: '60325' },
}
const nordhamn: Bank = {
  routing_number_type: 'SWIFT',
  routing_number: 'NOHASES0XXX',
  bank_name: 'Nordhamns Sparbank',
  bank_address: { country: 'SWE', address1: 'Skeppsbron 30', city: 'Malmo', zip_code: '211 20' },
}
/** Its address is as short as an address may be. */
const straits: Bank = {
  routing_number_type: 'SWIFT',
  routing_number: 'SMBKSGS0XXX',
  bank_name: 'Straits Meridian Bank',
  bank_address: { country: 'SGP' },
}

const wireBanks = [tidewell, merrow, ehrenfurt, stonebridge, nordhamn, tidewell, straits] as const

/** An account by its number, as the bank's country writes it. Acme's first is easy to remember. */
function accountNumber(name: string, bank: Bank, at: number): string {
  if (name === 'acme 0') return '5730008846'
  const drawn = `${name} account number`
  if (bank === ehrenfurt) return iban('DE', `99${drawDigits(drawn, 16)}`)
  if (bank === nordhamn) return iban('SE', `99${drawDigits(drawn, 18)}`)
  return drawDigits(drawn, cycle([10, 12, 9, 10, 11], at))
}

/** An IBAN with its check digits (ISO 13616); no bank has a number that begins with 99. */
function iban(country: string, account: string): string {
  const letters = [...country].map((letter) => letter.charCodeAt(0) - 55).join('')
  const check = 98n - (BigInt(`${account}${letters}00`) % 97n)
  return `${country}${String(check).padStart(2, '0')}${account}`
}

/** Book accounts have numbers of other lengths too; lists mask the short ones whole. */
const bookNumber = (name: string, at: number): string =>
  drawDigits(`${name} account number`, cycle([10, 12, 9, 5, 10, 4, 10, 1], Math.floor(at / 12)))

function wire(name: string, bank: Bank, at: number, identity: number): RecordInput {
  return {
    account_number: accountNumber(name, bank, at),
    fiat_account_owner_address: ownerAddress(identity),
    routing_details: bank,
    // Dollars reach a bank abroad through one in New York.
    ...(bank.routing_number_type === 'SWIFT' && { intermediary_routing_details: tidewell }),
  }
}

function rtp(name: string, at: number, identity: number): RecordInput {
  const account_number = drawDigits(`${name} rtp`, 10)
  return at % 24 < 12
    ? { account_number, routing_details: { routing_number: stonebridge.routing_number } }
    : {
        account_number,
        routing_details: merrow,
        fiat_account_owner_address: ownerAddress(identity),
      }
}

/**
 * How money reaches an account of an identity: most have a wire, every twelfth each of the other
 * networks.
 */
export function fiatNetwork(name: string, at: number, identity: number): RecordInput {
  const toBank = () => wire(name, cycle(wireBanks, at), at, identity)
  switch (at % 12) {
    case 1:
      return { cbit: { wallet_address: `0x${drawBytes(`${name} wallet`).toString('hex', 0, 20)}` } }
    case 3:
      return { dbs_act: { account_number: bookNumber(name, at) } }
    case 5:
      return { wire: toBank(), rtp: rtp(name, at, identity) }
    case 7:
      return { cubix: { account_id: drawUuid(`${name} cubix`) } }
    case 8:
      return { rtp: rtp(name, at, identity) }
    case 10:
      return { scb: { account_number: bookNumber(name, at + 12) } }
    default:
      return { wire: toBank() }
  }
}

/** The networks before a change: without real-time payments, or with the bank's former address. */
export function formerNetwork(networks: RecordInput): RecordInput {
  const { rtp: added, wire: kept } = networks
  if (kept === undefined) return networks
  if (added !== undefined) return { wire: kept }
  const { routing_details: bank, ...others } = kept as RecordInput
  const address = { country: 'USA', address1: '6 Old Exchange Place', city: 'Albany' }
  const former = {
    ...(bank as RecordInput),
    bank_address: { ...address, province: 'NY', zip_code: '12207' },
  }
  return { wire: { ...others, routing_details: former } }
}
