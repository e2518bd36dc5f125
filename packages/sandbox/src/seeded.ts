import { hash } from 'node:crypto'

/** Pseudorandom bytes that depend on the name alone, so a new record changes no other. */
export const drawBytes = (name: string): Buffer => Buffer.from(drawHex(name), 'hex')

const drawHex = (name: string): string => hash('sha256', `bursar sandbox: ${name}`, 'hex')

/** A version 4 UUID (RFC 9562 section 5.4). */
export function drawUuid(name: string): string {
  const hex = drawHex(name)
  const variant = ((Number.parseInt(hex.charAt(16), 16) & 3) | 8).toString(16)
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}

/** A whole number from 0 to `below` - 1. */
export const drawNumber = (name: string, below: number): number =>
  Number.parseInt(drawHex(name).slice(0, 8), 16) % below

/** Up to 32 decimal digits; the first is never 0. */
export function drawDigits(name: string, length: number): string {
  const digits = [...drawBytes(name).subarray(0, length)].map((byte) => byte % 10)
  return [Math.max(1, digits[0] ?? 1), ...digits.slice(1)].join('')
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
