import { readFileSync } from 'node:fs'
import type { Listening } from '../../test/support/server-process.ts'
import type { Row } from '../report.ts'

/** Megabytes of a process, now (`VmRSS`) or at its peak so far (`VmHWM`). */
export function memoryOf(pid: number, field: 'VmRSS' | 'VmHWM'): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  return Number(new RegExp(`${field}:\\s+(\\d+)`).exec(status)?.[1]) / 1000
}

/** The memory of a server: idle right after its start, and at its peak so far. */
export function memoryRow(
  name: string,
  { pid }: Listening,
  field: 'VmRSS' | 'VmHWM',
  goal: number,
): Row {
  return {
    name,
    goal: 1,
    atMost: true,
    unit: 'MB',
    reference: 'MB goal',
    rounds: 1,
    measure: async () => ({ ours: memoryOf(pid, field), theirs: goal }),
  }
}
