import assert from 'node:assert/strict'
import { usageOf } from './soak-server.ts'

const EVERY_MS = 5000

/** The first samples show a process that is still warming up, and a fault may inflate one. */
const [WARM_FROM, WARM_TO] = [4, 12]

/**
 * Follows the processes. Asserts at the end that those which are left did not grow. One that was
 * killed does not count, since it may have been full of silent connections.
 */
export function followUsage(pids: () => readonly number[]) {
  type Sample = NonNullable<ReturnType<typeof usageOf>>
  const samples = new Map<number, Sample[]>()
  const sample = () => {
    for (const pid of pids()) {
      const usage = usageOf(pid)
      if (usage !== undefined) samples.set(pid, [...(samples.get(pid) ?? []), usage])
    }
  }
  const timer = setInterval(sample, EVERY_MS).unref()
  const lineOf = (pid: number): string => {
    const all = samples.get(pid) ?? []
    const warm = all.slice(WARM_FROM, WARM_TO)
    const first = {
      descriptors: Math.min(...warm.map((usage) => usage.descriptors)),
      residentMiB: Math.min(...warm.map((usage) => usage.residentMiB)),
    }
    const last = all.at(-1) ?? first
    const seconds = (all.length * EVERY_MS) / 1000
    const line = `process ${pid}, ${seconds} s: ${first.descriptors} -> ${last.descriptors} descriptors, ${first.residentMiB.toFixed(0)} -> ${last.residentMiB.toFixed(0)} MiB`
    assert.ok(last.descriptors <= first.descriptors + 20, line)
    assert.ok(last.residentMiB <= 1.5 * first.residentMiB + 64, line)
    return line
  }
  return {
    /** Whether every process is old enough to be judged. */
    isReady: () => pids().every((pid) => (samples.get(pid)?.length ?? 0) >= WARM_TO),
    stop: (): string[] => {
      clearInterval(timer)
      sample()
      return pids().map(lineOf)
    },
  }
}
