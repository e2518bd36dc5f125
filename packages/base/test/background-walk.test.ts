import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { takeTime } from '../../../test/support/virtual-time.ts'
import { openBackground } from '../src/background.ts'
import { startWalk } from '../src/background-walk.ts'
import { limitNamed } from '../src/declare-limits.ts'

type Step = { readonly fails?: boolean; readonly tookMs?: number }

/** Walks for so long over two parts. The steps end as told, and later parts have one each. */
async function walked(
  forMs: number,
  first: readonly Step[],
  second: readonly Step[] = [{}],
  isBusy = true,
) {
  using time = takeTime()
  const begunAt = time.elapsedMs()
  const steps: [part: number, atMs: number][] = []
  const failures: string[] = []
  let [rounds, ended] = [0, 0]
  const toldParts = [[...first], [...second]]
  async function* part(number: number) {
    const told = toldParts[number]?.splice(0) ?? []
    try {
      for (const { fails = false, tookMs = 0 } of told.length === 0 ? [{} as Step] : told) {
        steps.push([number, time.elapsedMs() - begunAt])
        if (tookMs > 0) await time.pause(tookMs)
        if (fails) throw new Error('a lock')
        yield number
      }
    } finally {
      ended += 1
    }
  }
  const stop = startWalk(openBackground(), 'compare-records', {
    parts: () => [() => part(0), () => part(1)],
    take: () => {},
    isBusy: () => isBusy,
    endRound: () => {
      rounds += 1
    },
    failed: (error) => void failures.push(String(error)),
  })
  await time.advance(forMs)
  await stop()
  assert.equal(time.waiting(), 0)
  return { steps, failures, rounds, begun: steps.filter(([, at]) => at >= 0).length, ended }
}

const rest = limitNamed('walkRestMs')

describe('a walk', () => {
  test('reads its parts a step at a time, and begins again after a round', async () => {
    const { steps, rounds } = await walked(1000 + 6 * rest, [{}, {}])
    assert.deepEqual(steps, [
      [0, 1000],
      [0, 1000 + rest],
      [1, 1000 + 3 * rest],
    ])
    assert.equal(rounds, 1)
  })

  test('leaves a part that fails for the round, and warns once until a round has none', async () => {
    const failedMs = limitNamed('walkFailedRestMs')
    const { steps, failures } = await walked(1000 + failedMs + rest, [{}, { fails: true }, {}])
    assert.deepEqual(steps, [
      [0, 1000],
      [0, 1000 + rest],
      [1, 1000 + rest + failedMs],
    ])
    assert.equal(failures.length, 1)
    const both = await walked(1000 + 2 * failedMs, [{ fails: true }], [{ fails: true }])
    assert.equal(both.failures.length, 1)
  })

  test('rests after a step in proportion to its time', async () => {
    const took = 50
    for (const [isBusy, times] of [
      [true, limitNamed('walkBusyRestTimes')],
      [false, limitNamed('walkRestTimes')],
    ] as const) {
      const { steps } = await walked(5000, [{ tookMs: took }, {}], [{}], isBusy)
      assert.equal(steps[1]?.[1], 1000 + took + took * times)
    }
  })

  test('closes what it reads when it is stopped', async () => {
    const { begun, ended } = await walked(1000 + rest, [{}, {}, {}])
    assert.deepEqual([begun, ended], [2, 1])
  })
})
