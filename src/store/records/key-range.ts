import { POSITION_BYTES, timePrefix } from '../position.ts'
import type { Selection } from './page.ts'

/** Both ends are exclusive. An end of 8 bytes is a time; it sorts before the positions of it. */
export type KeyRange = { readonly low: Uint8Array; readonly high: Uint8Array }

const BELOW_ALL: Uint8Array = new Uint8Array(0)
const ABOVE_ALL: Uint8Array = new Uint8Array(POSITION_BYTES + 1).fill(0xff)

/** The positions that a page may show: those in the selection's time range and after its cursor. */
export function rangeOf(selection: Selection): KeyRange {
  const low = selection.from === undefined ? BELOW_ALL : timePrefix(selection.from)
  const high = selection.before === undefined ? ABOVE_ALL : timePrefix(selection.before)
  if (selection.after === undefined) return { low, high }
  return selection.order === 'ASC'
    ? { low: later(low, selection.after), high }
    : { low, high: earlier(high, selection.after) }
}

const later = (a: Uint8Array, b: Uint8Array): Uint8Array => (Buffer.compare(a, b) > 0 ? a : b)
const earlier = (a: Uint8Array, b: Uint8Array): Uint8Array => (Buffer.compare(a, b) < 0 ? a : b)
