import assert from 'node:assert/strict'
import { usageOf } from './soak-server.ts'

/** Follows each process. Asserts at the end that those which lived for long did not grow. */
export function followUsage(pids: () => readonly number[]) {
  type Sample = NonNullable<ReturnType<typeof usageOf>>
  const samples = new Map<number, Sample[]>()
  const sample = () => {
    for (const pid of pids()) {
      const usage = usageOf(pid)
      if (usage !== undefined) samples.set(pid, [...(samples.get(pid) ?? []), usage])
    }
  }
  const timer = setInterval(sample, 10_000).unref()
  return {
    stop: (): string[] => {
      clearInterval(timer)
      sample()
      return [...samples].flatMap(([pid, all]) => {
        // The first samples show a process that is still warming up.
        const [, , early] = all
        const last = all.at(-1)
        if (early === undefined || last === undefined || all.length < 9) return []
        const line = `process ${pid}, ${all.length * 10} s: ${early.descriptors} -> ${last.descriptors} descriptors, ${early.residentMiB.toFixed(0)} -> ${last.residentMiB.toFixed(0)} MiB`
        assert.ok(last.descriptors <= early.descriptors + 20, line)
        assert.ok(last.residentMiB <= 1.5 * early.residentMiB + 64, line)
        return [line]
      })
    },
  }
}
