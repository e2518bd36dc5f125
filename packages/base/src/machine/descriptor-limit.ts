import { readFileSync } from 'node:fs'
import { baseLimits } from '../limits.ts'
import { attempt } from '../values/attempt.ts'

/** The soft limit, to which Node raises it at start. Undefined where the system does not tell. */
export function readDescriptorLimit(file = '/proc/self/limits'): number | undefined {
  const text = attempt(() => readFileSync(file, 'utf8'))
  const soft = /^Max open files +(\d+)/m.exec(text ?? '')?.[1]
  return soft === undefined ? undefined : Number(soft)
}

/** The files that a process opens at most: connections of clients, and its stores. */
export const descriptorsWanted = baseLimits.connectionsMax + baseLimits.descriptorsReserved

export const descriptorAdvice = `raise the limit to ${descriptorsWanted} (ulimit -n, LimitNOFILE= of systemd, --ulimit of a container)`
