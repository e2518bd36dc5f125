import { hash } from 'node:crypto'
import type { RecordInput } from '@bursar/contract'

/**
 * The records of every customer, as a pure function of customer, place and generation. One import
 * replaces all records of a customer by those of a later generation. So a page shows a single
 * generation, and the generation determines every byte of the answer.
 */
export const customers = ['ash', 'birch', 'cedar'] as const

export type Customer = (typeof customers)[number]

/** Places per customer. Later generations add the last ones, and delete and restore others. */
export const placeCount = 40
const FIRST_PLACES = 30

const places = Array.from({ length: placeCount }, (_, place) => place)

export function idOf(customer: Customer, place: number): string {
  const hex = hash('sha256', `${customer} ${place}`)
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}

const exists = (place: number, generation: number): boolean =>
  place < FIRST_PLACES || generation > 2 * (place - FIRST_PLACES)

const isDeleted = (place: number, generation: number): boolean => (7 * place + generation) % 9 === 0

export const isLive = (place: number, generation: number): boolean =>
  exists(place, generation) && !isDeleted(place, generation)

/** Three places share a time, so that ids break ties. New places are at both ends. */
function createdAt(place: number): string {
  const at = place < FIRST_PLACES || place % 2 === 0 ? place : -place
  return new Date(Date.UTC(2026, 0, 1) + Math.floor(at / 3) * 1000)
    .toISOString()
    .replace('.000Z', 'Z')
}

const accountNumber = (customer: Customer, place: number, generation: number): string =>
  hash('sha256', `${customer} ${place} ${generation}`).slice(0, 16)

const bank = {
  routing_number_type: 'ABA',
  routing_number: '021000021',
  bank_name: 'First Sample Bank',
  bank_address: { country: 'USA' },
}

/** The body of a get. */
export function fullOf(customer: Customer, place: number, generation: number): RecordInput {
  const status = ['PENDING', 'APPROVED', 'REJECTED'][(place + generation) % 3]
  return {
    id: idOf(customer, place),
    ref_id: `${customer}-${place}`,
    status,
    fiat_network_instructions: {
      wire: {
        account_number: accountNumber(customer, place, generation),
        fiat_account_owner_address: { country: 'USA', city: `City of ${customer}` },
        routing_details: bank,
      },
    },
    fiat_account_owner: { person_details: { first_name: customer, last_name: `No ${place}` } },
    metadata: { customer, place: String(place), generation: String(generation) },
    created_at: createdAt(place),
  }
}

/** An item of the list, which is masked. */
function briefOf(customer: Customer, place: number, generation: number): RecordInput {
  const full = fullOf(customer, place, generation)
  return {
    ...full,
    fiat_network_instructions: {
      wire: {
        account_number: `XXXXXXXXXXXX${accountNumber(customer, place, generation).slice(-4)}`,
        fiat_account_owner_address: { country: 'USA' },
        routing_details: bank,
        status: full.status,
        metadata: full.metadata,
      },
    },
    fiat_account_owner: {},
  }
}

/** The lines of one import: every record of a customer in a generation. */
export const recordsOf = (customer: Customer, generation: number): RecordInput[] =>
  places
    .filter((place) => exists(place, generation))
    .map((place) => ({
      ...fullOf(customer, place, generation),
      customer_id: customer,
      source_version: generation,
      deleted_at: isDeleted(place, generation) ? '2026-07-01T00:00:00Z' : null,
    }))

/** The list's order, newest first. */
const keyOf = (customer: Customer, place: number): string =>
  `${createdAt(place)} ${idOf(customer, place)}`

const inOrder = new Map(
  customers.map((customer) => [
    customer,
    places.toSorted((a, b) => (keyOf(customer, a) > keyOf(customer, b) ? -1 : 1)),
  ]),
)

/** The page after a place in a generation: its items, and whether more follow. */
export function pageOf(
  customer: Customer,
  generation: number,
  after: number | undefined,
  limit: number,
): { readonly places: readonly number[]; readonly items: RecordInput[]; readonly more: boolean } {
  const beyond = (inOrder.get(customer) ?? []).filter(
    (place) =>
      isLive(place, generation) &&
      (after === undefined || keyOf(customer, place) < keyOf(customer, after)),
  )
  const shown = beyond.slice(0, limit)
  return {
    places: shown,
    items: shown.map((place) => briefOf(customer, place, generation)),
    more: beyond.length > limit,
  }
}
