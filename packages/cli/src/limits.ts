import { limitsOf } from '@bursar/base'

/** Limits that several files share, here or in other packages. */
export const cliLimits = limitsOf({
  /** How long `doctor` compares counts of records, in all. */
  doctorCountsMs: 5000,
})
