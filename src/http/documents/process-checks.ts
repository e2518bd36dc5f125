import { type Logger, logStateOf } from '../../platform/log.ts'
import type { ReadinessCheck } from './health.ts'

export type Life = { isEnding: boolean }

/** What readiness says about the process itself, beside its stores and fees. */
export const processChecks = (life: Readonly<Life>, log: Logger): ReadinessCheck[] => [
  {
    name: 'process',
    check: async () => {
      if (life.isEnding) throw new Error('the process is shutting down')
      return undefined
    },
  },
  {
    name: 'log',
    // The log itself cannot tell while nobody reads it.
    check: async () => {
      const { dropped = 0, waitingBytes = 0 } = logStateOf(log) ?? {}
      return { status: waitingBytes > 0 ? 'degraded' : 'ok', dropped_lines: dropped }
    },
  },
]
