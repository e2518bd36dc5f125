/**
 * The codes of parameters and body members in `meta.errors`, each with what it means. Within `/v2`
 * codes are only added.
 */
export const faultCodes = {
  missing: 'It must be set, or is empty.',
  repeated: 'It was given more than once.',
  conflicting: 'It was set beside a parameter that excludes it.',
  malformed: 'It does not have its form.',
  unknown_value: 'It is none of the values that it may have.',
  out_of_range: 'It is a number that is too small or too large.',
  wrong_length: 'It has too few or too many characters.',
  too_many: 'It has more entries than it may have.',
  wrong_type: 'It is JSON of another type.',
  not_json: 'The body is not JSON.',
  not_utf8: 'It is not text in UTF-8.',
  nul: 'It contains a NUL.',
  other_list: 'The cursor was issued by another list.',
  other_order: 'The cursor was issued for another order.',
  other_filters: 'The cursor was issued for other filters.',
} as const satisfies Readonly<Record<string, string>>

export type FaultCode = keyof typeof faultCodes

/** The codes of conflicts with what is stored. */
export const conflictCodes = {
  taken: 'Another record of the customer has this value.',
  held: 'A record of another customer has this value; `take_over=true` takes it.',
  not_storable: 'The value cannot be stored.',
  fixed: 'It must stay as it was first stored.',
  older: 'The stored record is newer; `allow_older=true` replaces it all the same.',
} as const satisfies Readonly<Record<string, string>>

/** The codes of records and of files of records, on the operator's API and in the sandbox. */
export const recordFaultCodes = {
  ...faultCodes,
  unknown_name: 'No parameter or member has this name.',
  too_deep: 'It is nested too deeply.',
  invalid_address: 'It is no address that the network accepts.',
  other_id: 'It is another id than that of the path.',
  other_customer: 'It is another customer than the one that the request may write to.',
  unreadable: 'The body cannot be read past this line, or at all where no line is named.',
  incomplete: 'The input is not the one that its sender has announced.',
  ...conflictCodes,
} as const satisfies Readonly<Record<string, string>>

export type RecordFaultCode = keyof typeof recordFaultCodes
