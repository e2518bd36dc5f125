import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { limitNamed, openBackground, openLog } from '@bursar/base'
import { StoreCorrupted, StoreDamaged } from '@bursar/records'
import { takeTime, type VirtualTime } from '../../../test/support/virtual-time.ts'
import { watchDamage } from '../src/files/damage-watch.ts'

/** A watch whose checks end as told; later ones pass. */
function watching(time: VirtualTime, faults: readonly (string | Error | undefined)[], tookMs = 0) {
  const begunAt = time.elapsedMs()
  const checksAt: number[] = []
  const warnings: string[] = []
  const warn = (_bound: unknown, message = _bound) => void warnings.push(String(message))
  const watch = watchDamage({
    paths: () => ['store.db'],
    check: {
      run: async () => {
        const fault = faults[checksAt.length]
        checksAt.push(time.elapsedMs() - begunAt)
        if (tookMs > 0) await time.pause(tookMs)
        if (fault instanceof Error) throw fault
        return fault
      },
      stop: async () => {},
    },
    log: Object.assign(openLog('silent'), { warn }),
    background: openBackground(),
  })
  return { watch, checksAt, warnings }
}

const reported = new StoreCorrupted('database disk image is malformed')

describe('the check of the files of a store', () => {
  test('finds damage that a second check confirms, and does not forget it', async () => {
    using time = takeTime()
    const { watch, checksAt } = watching(time, ['an entry is missing', 'an entry is missing'])
    assert.equal(watch.fault(), undefined)
    await time.advance(limitNamed('damageLookMs'))
    const sentence =
      'store.db is damaged: an entry is missing; stop this server, and restore a backup with `bursar restore FILE --replace`'
    assert.equal(watch.fault(), sentence)
    await time.advance(limitNamed('scanRoundRestMs'))
    assert.equal(watch.fault(), sentence)
    assert.equal(checksAt.length, 2)
    await watch.stop()
  })

  test('forgets a fault that the second check does not confirm', async () => {
    using time = takeTime()
    const { watch } = watching(time, ['an entry is missing', undefined])
    await time.advance(limitNamed('damageLookMs'))
    assert.equal(watch.fault(), undefined)
    await watch.stop()
  })

  test('runs soon after SQLite has reported damage, once in a while, and warns if it passes', async () => {
    using time = takeTime()
    const { watch, checksAt, warnings } = watching(time, [])
    await time.advance(limitNamed('damageLookMs'))
    watch.noteFailure(new StoreDamaged('a record'))
    watch.noteFailure(new Error('something else'))
    await time.advance(1)
    assert.deepEqual([checksAt, warnings], [[1000], []])
    for (let failures = 0; failures < 3; failures += 1) watch.noteFailure(reported)
    await time.advance(1)
    watch.noteFailure(reported)
    await time.advance(1)
    assert.deepEqual(checksAt, [1000, 1001])
    assert.match(warnings.join(), /^SQLite reported damage that a check .* did not find;/)
    await time.advance(limitNamed('scanRoundRestMs'))
    watch.noteFailure(reported)
    await time.advance(1)
    assert.equal(warnings.length, 2)
    await watch.stop()
  })

  test('rests in proportion to its time, and goes on after a check that cannot be made', async () => {
    const short = Math.ceil(limitNamed('scanRoundRestMs') / limitNamed('tableCheckRestTimes'))
    for (const [tookMs, pauseMs] of [
      [short - 1, limitNamed('scanRoundRestMs')],
      [short + 1, (short + 1) * limitNamed('tableCheckRestTimes')],
    ] as const) {
      using time = takeTime()
      const { watch, checksAt, warnings } = watching(time, [new Error('no descriptor')], tookMs)
      const next = 1000 + tookMs + pauseMs
      await time.advance(next)
      assert.deepEqual(checksAt, [1000, next])
      assert.deepEqual(warnings, ['the tables of the store cannot be checked'])
      await watch.stop()
    }
  })
})
