import {
  baseLimits,
  ConfigError,
  descriptorAdvice,
  descriptorsWanted,
  type Logger,
  limitsOf,
} from '@bursar/base'

const limits = limitsOf({
  /** With room for fewer connections the service does not start. */
  connectionsMin: 64,
})

/**
 * How many connections this process can hold. A connection without a file descriptor would fail
 * together with the stores, so those keep a reserve. Throws if too few are left.
 */
export function connectionsWithin(descriptors: number | undefined, log: Logger): number {
  const { connectionsMax, descriptorsReserved } = baseLimits
  const { connectionsMin } = limits
  if (descriptors === undefined || descriptors >= descriptorsWanted) return connectionsMax
  const left = descriptors - descriptorsReserved
  if (left < connectionsMin) {
    throw new ConfigError(
      `the process may open ${descriptors} files, which is too few; ${descriptorAdvice}`,
    )
  }
  log.warn(
    { descriptors, connectionsMax: left },
    `the process may open few files, so it holds fewer connections; ${descriptorAdvice}`,
  )
  return left
}
