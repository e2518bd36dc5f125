import { isCertainlyEven, oddityOf } from '@bursar/base'
import type { RecordInput } from '@bursar/contract'
import { joinMembers } from './record-bounds.ts'

/** A value that may be right, and that somebody should look at. */
export type Oddity = { readonly member: string; readonly reason: string }

/** What is odd about a record that has no fault. `json` is the text of the record. */
export const odditiesOf = (record: RecordInput, json: string): readonly Oddity[] =>
  isCertainlyEven(json) ? [] : odditiesIn(record, '')

function odditiesIn(parent: object, path: string): Oddity[] {
  return Object.entries(parent).flatMap(([name, value]) => {
    const member = joinMembers(path, name)
    if (typeof value === 'object' && value !== null) return odditiesIn(value, member)
    if (typeof value !== 'string') return []
    const reason = oddityOf(value, /(?:_id|_number|_address)$/.test(name))
    return reason === undefined ? [] : [{ member, reason }]
  })
}
