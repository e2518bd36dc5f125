import { limitsOf, printable } from '@bursar/base'
import type { RecordFault, RecordInput } from '@bursar/contract'
import { intakeLimits } from './limits.ts'

const limits = limitsOf({
  /** The longest legal text has 500 characters. A character takes one or two UTF-16 units. */
  recordTextLengthMax: 1000,
  /** Members of one object: metadata may have 50. Items of one array: statement balances. */
  recordMembersMax: 100,
  recordItemsMax: 1000,
})

/**
 * Whether every text, array and object of a record is small enough to be checked. Patterns take
 * quadratic time on long text, so this runs before them. It allocates nothing for a legal record.
 */
export function isWithinBounds(value: unknown, depth = 0): boolean {
  if (typeof value === 'string') return value.length <= limits.recordTextLengthMax
  if (typeof value !== 'object' || value === null) return true
  if (depth > intakeLimits.recordDepthMax) return false
  if (Array.isArray(value)) {
    if (value.length > limits.recordItemsMax) return false
    return value.every((item) => isWithinBounds(item, depth + 1))
  }
  let members = 0
  for (const name in value) {
    members += 1
    if (members > limits.recordMembersMax || name.length > limits.recordTextLengthMax) return false
    if (!isWithinBounds((value as RecordInput)[name], depth + 1)) return false
  }
  return true
}

/** The limits that a record exceeds. It does not look inside what exceeds one. */
export function boundsFaults(value: unknown, member = '', depth = 0): RecordFault[] {
  const fault = (code: RecordFault['code'], reason: string): RecordFault[] => [
    { member: member || 'record', code, reason },
  ]
  if (typeof value === 'string') {
    if (value.length <= limits.recordTextLengthMax) return []
    const reason = `has ${value.length} characters; ${limitOf('a text', limits.recordTextLengthMax)}`
    return fault('wrong_length', reason)
  }
  if (typeof value !== 'object' || value === null) return []
  if (depth > intakeLimits.recordDepthMax) {
    const reason = `is nested too deeply; ${limitOf('a record', intakeLimits.recordDepthMax)} levels`
    return fault('too_deep', reason)
  }
  if (Array.isArray(value) && value.length > limits.recordItemsMax) {
    const reason = `has ${value.length} entries; ${limitOf('an array', limits.recordItemsMax)}`
    return fault('too_many', reason)
  }
  const members = Object.entries(value)
  if (!Array.isArray(value) && members.length > limits.recordMembersMax) {
    const reason = `has ${members.length} members; ${limitOf('an object', limits.recordMembersMax)}`
    return fault('too_many', reason)
  }
  return members.flatMap(([name, child]) => {
    if (name.length <= limits.recordTextLengthMax) {
      return boundsFaults(child, joinMembers(member, name), depth + 1)
    }
    const reason = `has a name of ${name.length} characters; ${limitOf('a name', limits.recordTextLengthMax)}`
    return [{ member: joinMembers(member, name), code: 'wrong_length', reason }]
  })
}

/** The path of a member as faults show it. The file chose the names, so they are made printable. */
export function joinMembers(parent: string, member: string): string {
  const shown = member === '' ? '""' : printable(member)
  return parent === '' ? shown : `${parent}.${shown}`
}

const limitOf = (what: string, limit: number): string => `${what} may have at most ${limit}`
