import { limitsOf, type Pace } from '@bursar/base'
import { contractLimits } from '@bursar/contract'
import type { LineReading } from './lines.ts'

const limits = limitsOf({
  /** Lines of a stream: two million accounts. The command imports larger files. */
  streamLinesMax: 2_000_000,
  /** Blank lines of a stream in all; a writer has one at the end. */
  streamBlankLinesMax: 1000,
  /** Records compress to a twentieth. A stream's processor time follows its content. */
  streamGzipRatioMax: 100,
  streamGzipRatioFreeBytes: 1024 * 1024,
})

/** How the lines of a request are read. */
export const requestReading = (pace: Pace): LineReading => ({
  pace,
  linesMax: limits.streamLinesMax,
  blankLinesMax: limits.streamBlankLinesMax,
})

/** The bounds of a request's content; those of a file are far larger. */
export const requestBounds = {
  contentBytesMax: contractLimits.streamBytesMax,
  gzipRatioMax: limits.streamGzipRatioMax,
  gzipRatioFreeBytes: limits.streamGzipRatioFreeBytes,
} as const
