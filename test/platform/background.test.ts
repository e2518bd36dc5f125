import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { type JobState, jobs, openBackground } from '../../src/background.ts'
import { turn } from '../support/until.ts'

const at = 1_700_000_000_000_000n

/** Jobs on a clock that the test moves, with timers that it fires. */
function openJobs() {
  let now = at
  const waiting: { delayMs: number; task: () => void }[] = []
  const background = openBackground(() => now, {
    after: (delayMs, task) => {
      const timer = { delayMs, task }
      waiting.push(timer)
      return () => void waiting.splice(waiting.indexOf(timer), 1)
    },
  })
  const fire = async () => {
    const { delayMs = 0, task } = waiting[0] ?? {}
    now += BigInt(delayMs * 1000)
    task?.()
    await turn()
  }
  const state = () => {
    const [{ last, ...rest } = {} as JobState] = background.states()
    return { ...rest, lastAt: last?.at }
  }
  return { background, fire, state, waiting }
}

const seconds = (count: number) => BigInt(count) * 1_000_000n

describe('a job', () => {
  test('says when it ran last, when it runs next, and since when it fails', async () => {
    const { background, fire, state, waiting } = openJobs()
    const ends = [{}, { isFailed: true }, { pauseMs: 100, isFailed: true }, undefined]
    const run = async () => ends.shift() ?? {}
    const { stop } = background.start('read-credentials', run, { of: 'one', firstMs: 500 })
    const job = { name: 'read-credentials', of: 'one', everyMs: 2000 }
    const never = { failingSince: undefined, lastAt: undefined }
    assert.deepEqual(state(), { ...job, ...never, next: { at: at + 500_000n } })
    await fire()
    const first = at + 500_000n
    const next = { at: first + seconds(2) }
    assert.deepEqual(state(), { ...job, failingSince: undefined, lastAt: first, next })
    await fire()
    const failed = { ...job, failingSince: first + seconds(2) }
    const later = { at: first + seconds(4) }
    assert.deepEqual(state(), { ...failed, lastAt: first + seconds(2), next: later })
    await fire()
    const retry = { at: first + seconds(4) + 100_000n }
    assert.deepEqual(state(), { ...failed, lastAt: first + seconds(4), next: retry })
    await fire()
    assert.equal(state().failingSince, undefined)
    stop()
    assert.deepEqual([background.states(), waiting], [[], []])
  })

  test('says since when a run goes on, and keeps what the run before it has shown', async () => {
    const { background, fire, state } = openJobs()
    const runs = [Promise.resolve({ isFailed: true }), new Promise<object>(() => {})]
    background.start('check-tables', () => runs.shift() ?? Promise.resolve({}))
    await fire()
    const { lastAt, failingSince } = state()
    await fire()
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
    background.start('watch-npm', async () => {})
    background.start('read-credentials', async () => {})
    const names = background.states().map(({ name }) => name)
    assert.deepEqual(names, ['read-credentials', 'watch-npm'])
  })
})

describe('the list of jobs', () => {
  for (const [name, { in: file }] of Object.entries(jobs)) {
    test(`names the file that starts ${name}`, () => {
      assert.match(readFileSync(file, 'utf8'), new RegExp(`\\.start\\(\\s*'${name}'`))
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
