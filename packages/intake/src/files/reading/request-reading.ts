import { limits, type Pace } from '@bursar/base'
import type { LineReading } from './lines.ts'

/** How the lines of a request are read. */
export const requestReading = (pace: Pace): LineReading => ({
  pace,
  linesMax: limits.streamLinesMax,
  blankLinesMax: limits.streamBlankLinesMax,
})

/** The bounds of a request's content; those of a file are far larger. */
export const requestBounds = {
  contentBytesMax: limits.streamBytesMax,
  gzipRatioMax: limits.streamGzipRatioMax,
  gzipRatioFreeBytes: limits.streamGzipRatioFreeBytes,
} as const
