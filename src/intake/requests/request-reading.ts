import { limits } from '../../platform/limits.ts'
import { paceOf, type TimeSlices } from '../../platform/time-slices.ts'
import type { LineReading } from '../files/reading/lines.ts'

/** A server reads the body of a request beside other requests, until the signal ends it. */
export const requestReading = (slices: TimeSlices, signal: AbortSignal): LineReading => ({
  pace: paceOf(slices, signal),
  linesMax: limits.streamLinesMax,
  blankLinesMax: limits.streamBlankLinesMax,
})

/** The bounds of a request's content; those of a file are far larger. */
export const requestBounds = {
  contentBytesMax: limits.streamBytesMax,
  gzipRatioMax: limits.streamGzipRatioMax,
  gzipRatioFreeBytes: limits.streamGzipRatioFreeBytes,
} as const
