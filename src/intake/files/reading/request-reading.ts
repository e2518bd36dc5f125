import { limits } from '../../../platform/limits.ts'
import type { Pace } from '../../../platform/time-slices.ts'
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
