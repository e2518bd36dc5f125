import { limitsOf } from '@bursar/base'

/** Limits that several files share, here or in other packages. */
export const serverLimits = limitsOf({
  /**
   * A body, unless its operation says otherwise: the largest, a fee request, has a few hundred
   * bytes.
   */
  bodyBytesMax: 16 * 1024,
  /** Request line and headers: 1,000 statement ids (60 KB), a token and a proxy's headers. */
  headerBytesMax: 72 * 1024,
  /** Browsers and proxies send about 30. Node reads each into strings before any check. */
  headersMax: 100,
  /** What follows a media type is a charset, or a boundary of at most 70 characters. */
  contentTypeLengthMax: 256,
  /** A smaller answer fits into one packet, compressed or not. */
  compressedBytesMin: 1024,
  /** How often the right to a request is looked at while its work goes on. */
  rightCheckedMs: 1000,
})
