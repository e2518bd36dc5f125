import { readFileSync } from 'node:fs'
import { ConfigError } from '../../../platform/config.ts'
import { limits } from '../../../platform/limits.ts'
import type { Logger } from '../../../platform/log.ts'
import { attempt } from '../../../values/attempt.ts'

/**
 * How many connections this process can hold. A connection without a file descriptor would fail
 * together with the stores, so those keep a reserve. Throws if too few are left.
 */
export function connectionsWithin(descriptors: number | undefined, log: Logger): number {
  const { connectionsMax, connectionsMin, descriptorsReserved } = limits
  const wanted = connectionsMax + descriptorsReserved
  if (descriptors === undefined || descriptors >= wanted) return connectionsMax
  const advice = `raise the limit to ${wanted} (ulimit -n, LimitNOFILE= of systemd, --ulimit of a container)`
  const left = descriptors - descriptorsReserved
  if (left < connectionsMin) {
    throw new ConfigError(`the process may open ${descriptors} files, which is too few; ${advice}`)
  }
  log.warn(
    { descriptors, connectionsMax: left },
    `the process may open few files, so it holds fewer connections; ${advice}`,
  )
  return left
}

/** The soft limit, to which Node raises it at start. Undefined where the system does not tell. */
export function readDescriptorLimit(file = '/proc/self/limits'): number | undefined {
  const text = attempt(() => readFileSync(file, 'utf8'))
  const soft = /^Max open files +(\d+)/m.exec(text ?? '')?.[1]
  return soft === undefined ? undefined : Number(soft)
}
