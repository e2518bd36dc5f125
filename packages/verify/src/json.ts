import { parseInstant } from '@bursar/base'

/** A record as it was answered: nothing about its members is known yet. */
export type Item = Readonly<Record<string, unknown>>

export const isItem = (value: unknown): value is Item =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** A member of a value, or undefined if the value is no object. */
export const memberOf = (value: unknown, name: string): unknown =>
  isItem(value) && Object.hasOwn(value, name) ? value[name] : undefined

/** A member that is text, or undefined. */
export function textOf(value: unknown, name: string): string | undefined {
  const member = memberOf(value, name)
  return typeof member === 'string' ? member : undefined
}

/** The id of a record, or an empty text, which equals no id. */
export const idOf = (item: Item): string => textOf(item, 'id') ?? ''

/** An id for a path. The target chose it, so it may hold any character. */
export const pathIdOf = (item: Item): string => encodeURIComponent(idOf(item))

export const present = <T>(value: T | undefined): value is T => value !== undefined

/** The time in a member, or undefined if it has none. */
export const timeOf = (item: Item, member: string): bigint | undefined =>
  parseInstant(textOf(item, member) ?? '')?.micros
