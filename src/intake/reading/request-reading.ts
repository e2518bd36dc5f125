import { limits } from '../../platform/limits.ts'
import { type Pace, paceOf, type TimeSlices } from '../../platform/time-slices.ts'

/** How the lines of a source are read. */
export type LineReading = {
  /** Called before each line. */
  readonly pace: Pace
  readonly linesMax: number
  /** Of the whole source; a file has a limit of blank lines in a row alone. */
  readonly blankLinesMax: number
}

/** A command reads whole files, and has a process to itself. */
export const fileReading: LineReading = {
  pace: () => undefined,
  linesMax: Number.POSITIVE_INFINITY,
  blankLinesMax: Number.POSITIVE_INFINITY,
}

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
