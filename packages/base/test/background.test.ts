import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { takeTime } from '../../../test/support/virtual-time.ts'
import { type JobState, jobs, openBackground } from '../src/background.ts'

function openJobs() {
  const background = openBackground()
  const state = () => {
    const [{ last, ...rest } = {} as JobState] = background.states()
    return { ...rest, lastAt: last?.at }
  }
  return { background, state }
}

const seconds = (count: number) => BigInt(count) * 1_000_000n

describe('a job', () => {
  test('says when it ran last, when it runs next, and since when it fails', async () => {
    using time = takeTime()
    const at = time.now()
    const { background, state } = openJobs()
    const ends = [{}, { isFailed: true }, { pauseMs: 100, isFailed: true }, undefined]
    const run = async () => ends.shift() ?? {}
    const { stop } = background.start('read-credentials', run, { of: 'one', firstMs: 500 })
    const job = { name: 'read-credentials', of: 'one', everyMs: 2000 }
    const never = { failingSince: undefined, lastAt: undefined }
    assert.deepEqual(state(), { ...job, ...never, next: { at: at + 500_000n } })
    await time.advance(500)
    const first = at + 500_000n
    const next = { at: first + seconds(2) }
    assert.deepEqual(state(), { ...job, failingSince: undefined, lastAt: first, next })
    await time.advance(2000)
    const failed = { ...job, failingSince: first + seconds(2) }
    const later = { at: first + seconds(4) }
    assert.deepEqual(state(), { ...failed, lastAt: first + seconds(2), next: later })
    await time.advance(2000)
    const retry = { at: first + seconds(4) + 100_000n }
    assert.deepEqual(state(), { ...failed, lastAt: first + seconds(4), next: retry })
    await time.advance(100)
    assert.equal(state().failingSince, undefined)
    stop()
    assert.deepEqual([background.states(), time.waiting()], [[], 0])
  })

  test('says since when a run goes on, and keeps what the run before it has shown', async () => {
    using time = takeTime()
    const at = time.now()
    const { background, state } = openJobs()
    const runs = [Promise.resolve({ isFailed: true }), new Promise<object>(() => {})]
    background.start('check-tables', () => runs.shift() ?? Promise.resolve({}))
    await time.advance(60_000)
    const { lastAt, failingSince } = state()
    await time.advance(60_000)
    const runningSince = at + seconds(120)
    assert.deepEqual(state(), {
      name: 'check-tables',
      of: undefined,
      everyMs: 60_000,
      failingSince,
      lastAt,
      next: { runningSince },
    })
    assert.equal(failingSince, at + seconds(60))
  })

  test('is listed in the order of the list, whichever started first', () => {
    const { background } = openJobs()
    const started = (['watch-npm', 'read-credentials'] as const).map((name) =>
      background.start(name, async () => {}),
    )
    const names = background.states().map(({ name }) => name)
    for (const { stop } of started) stop()
    assert.deepEqual(names, ['read-credentials', 'watch-npm'])
  })
})

describe('the list of jobs', () => {
  for (const [name, { in: file }] of Object.entries(jobs)) {
    test(`names the file that starts ${name}`, () => {
      assert.match(
        readFileSync(file, 'utf8'),
        new RegExp(`(\\.start|startWalk.*)\\([^']*'${name}'`),
      )
    })
  }

  test('is that of docs/running.md, with the same words', () => {
    const rows = readFileSync('docs/running.md', 'utf8').match(/^\| `[a-z-]+` .*\| every .*$/gm)
    assert.deepEqual(
      rows?.map((row) =>
        row
          .split('|')
          .slice(1, 4)
          .map((cell) => cell.trim()),
      ),
      Object.entries(jobs).map(([name, { does, everyMs }]) => [
        `\`${name}\``,
        does,
        `every ${everyMs / 1000} s`,
      ]),
    )
  })
})
