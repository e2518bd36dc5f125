import { invalidParameters } from '@bursar/contract'
import type { Place } from './cursor.ts'

/** The time of a page of the past, which its cursor has. A cursor of another time is a 400. */
export function instantOf(given: bigint | undefined, place: Place | undefined): bigint | undefined {
  if (place !== undefined && given !== undefined && place.asOf !== given) {
    const reason = 'was issued for another as_of'
    throw invalidParameters([{ parameter: 'page_cursor', code: 'other_filters', reason }])
  }
  return place?.asOf ?? given
}
