/** Which trace a request belongs to, and which span of it is the caller's, or ours. */
export type TraceContext = {
  /** 32 hexadecimal digits. */
  readonly traceId: string
  /** 16 hexadecimal digits. */
  readonly spanId: string
  /** Whether the span is recorded. */
  readonly isSampled: boolean
}

/** The version, the ids and the flags: `00-<32 digits>-<16 digits>-01`. */
const LENGTH = 55
/** A later version may append to them. No proxy sends much. */
const LENGTH_MAX = 256

/**
 * Reads the `traceparent` header (W3C Trace Context, section 3.2). Anything but its exact form is
 * as if it was not sent. Of a later version the parts of version 00 count, and what follows a
 * hyphen is ignored. Node joins repeated headers by commas, which no version has.
 */
export function readTraceparent(header: string | readonly string[] | undefined) {
  if (typeof header !== 'string' || header.length < LENGTH || header.length > LENGTH_MAX) {
    return undefined
  }
  const [, version, traceId, spanId, flags, rest] = form.exec(header) ?? []
  if (version === undefined || traceId === undefined || spanId === undefined) return undefined
  if (version === 'ff' || (version === '00' && rest !== '')) return undefined
  if (traceId === NO_TRACE || spanId === NO_SPAN) return undefined
  return { traceId, spanId, isSampled: (Number.parseInt(flags ?? '', 16) & 1) === 1 }
}

const form = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(|-[^,]*)$/
const NO_TRACE = '0'.repeat(32)
const NO_SPAN = '0'.repeat(16)
