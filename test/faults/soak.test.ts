import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setTimeout as passing } from 'node:timers/promises'
import { isLong } from '../support/long.ts'
import { untilHolds } from '../support/until.ts'
import { statusOf } from './support/client.ts'
import { mountSmallDisk } from './support/small-disk.ts'
import { type Fault, openFaults } from './support/soak-faults.ts'
import { followUsage } from './support/soak-usage.ts'
import { importMany, openSoak, type Soak } from './support/soak-world.ts'
import { startWrites } from './support/soak-writes.ts'
import { startTraffic } from './support/traffic.ts'

/**
 * A server meets a random fault every 20 seconds for ten minutes, while clients
 * read, quote, consume, revoke and import. It runs in `npm run test:long`, as root, because it
 * mounts a small file system.
 */

const MINUTES = Number(process.env.BURSAR_SOAK_MINUTES ?? 10)
const FAULT_EVERY_MS = 20_000

/** Revocations and clock jumps are known to every process after this time. */
const SETTLED_MS = 12_000

if (isLong) {
  test('a soak with random faults loses no write, sends no wrong body and does not grow', async (t) => {
    const disk = mountSmallDisk()
    assert.ok(disk, 'The soak mounts a file system, which needs root.')
    after(() => disk.remove())
    const soak = await openSoak(disk)
    const { server, history, tokens } = soak
    const traffic = startTraffic({
      urls: [server.url],
      tokens,
      history,
      running: new Set(),
      restMs: 10,
      isExplained: (answer) => statusOf(answer) === 401 && !soak.isClockRight(),
    })
    const imports = startImports(soak)
    const writes = startWrites(soak.writeDeps)
    const faults = openFaults({ ...soak, disk, importMany: () => importMany(soak.env) })
    const recoveries = new Map<string, number[]>()
    const stopClients = async () => {
      await Promise.all([imports.stop(), writes.stop()])
      return await traffic.stop()
    }
    try {
      await passing(10_000)
      const usages = followUsage(() => [server.pid()])
      const endsAt = performance.now() + MINUTES * 60_000
      for (const fault of inRandomOrder(faults.faults, endsAt)) {
        const nextAt = performance.now() + FAULT_EVERY_MS
        const ms = await soak.suffer(fault)
        recoveries.set(fault.name, [...(recoveries.get(fault.name) ?? []), ms])
        await passing(Math.max(0, nextAt - performance.now()))
      }
      await untilHolds('silent connections are closed', () => faults.silentLeft() === 0)
      await untilHolds('the processes are old enough to be judged', usages.isReady, 90_000)
      const { answered, refused, cut, walks } = await stopClients()
      t.diagnostic(`${answered} answers, ${walks} walks, ${refused} refused, ${cut} cut`)
      t.diagnostic(`${JSON.stringify(writes.counts())}, ${imports.count()} imports`)
      await passing(SETTLED_MS)
      await writes.assertKept()
      await soak.assertSound()
      assert.deepEqual(server.damageAlarms(), [], 'No fault damages a stored record.')
      for (const line of usages.stop()) t.diagnostic(line)
      assert.equal(await server.stop(), 0)
    } finally {
      t.diagnostic(`the end of the log: ${server.program().errors().slice(-1500)}`)
      for (const [name, times] of recoveries) t.diagnostic(`${name}: ${recoveryOf(times)}`)
      faults.close()
      await stopClients().catch(() => {})
      await server.abandon()
    }
  })
}

function startImports({ importGeneration }: Soak) {
  let stopped = false
  let count = 1
  const run = async () => {
    while (!stopped) {
      if (await importGeneration(count + 1)) count += 1
      await passing(3000)
    }
  }
  const running = run()
  return {
    count: () => count,
    stop: async () => {
      stopped = true
      await running
    },
  }
}

/** Every fault once in random order, then again, until the time is over. */
function* inRandomOrder(faults: readonly Fault[], endsAt: number): Iterable<Fault> {
  for (;;) {
    const left = [...faults]
    while (left.length > 0) {
      if (performance.now() > endsAt) return
      yield* left.splice(Math.floor(Math.random() * left.length), 1)
    }
  }
}

function recoveryOf(times: readonly number[]): string {
  const sorted = times.toSorted((a, b) => a - b)
  const median = sorted[Math.floor((sorted.length - 1) / 2)] ?? 0
  return `${times.length} times, recovered in ${median.toFixed(0)} ms, at most ${(sorted.at(-1) ?? 0).toFixed(0)} ms`
}
