import { hash } from 'node:crypto'
import { uuidText } from '../values/uuid-text.ts'

/** Pseudorandom bytes that depend on the name alone, so a new record changes no other. */
export const drawBytes = (name: string): Buffer =>
  hash('sha256', `bursar sandbox: ${name}`, 'buffer')

/** A version 4 UUID (RFC 9562 section 5.4). */
export function drawUuid(name: string): string {
  const bytes = drawBytes(name)
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80
  const hex = bytes.toString('hex', 0, 16)
  return uuidText(hex)
}

/** A whole number from 0 to `below` - 1. */
export const drawNumber = (name: string, below: number): number =>
  drawBytes(name).readUInt32BE(0) % below

/** Decimal digits; the first is never 0. */
export function drawDigits(name: string, length: number): string {
  const digits = [...drawBytes(name), ...drawBytes(`${name} more`)].map((byte) => byte % 10)
  return [Math.max(1, digits[0] ?? 1), ...digits.slice(1, length)].join('').slice(0, length)
}

/** 16 characters of A-Z and 0-9, like a memo id. */
export function drawMemo(name: string): string {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789'
  return [...drawBytes(name).subarray(0, 16)].map((byte) => alphabet[byte % 36]).join('')
}

/** The member at index `at`, modulo the length of the list. */
export function cycle<const M extends readonly [unknown, ...unknown[]]>(
  members: M,
  at: number,
): M[number] {
  return members[at % members.length]
}
