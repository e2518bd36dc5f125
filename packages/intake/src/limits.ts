import { limitsOf } from '@bursar/base'

/** Limits that several files share, here or in other packages. */
export const intakeLimits = limitsOf({
  /** Legal records have 6 levels. */
  recordDepthMax: 10,
  /** Blank lines in a row. A file with more of them is broken or an attack. */
  blankLinesMax: 10_000,
})
