import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { startRetried } from '../../src/cli/processes/start-retried.ts'
import { ConfigError } from '../../src/platform/config.ts'
import { limits } from '../../src/platform/limits.ts'
import { openLog } from '../../src/platform/log.ts'
import { NoPrimary, StoreDamaged, StoreUnavailable } from '../../src/store/unavailable.ts'
import { takeTime } from '../support/virtual-time.ts'

const log = openLog('silent')
const running = new Promise<never>(() => {})

/** A start that fails with each of the errors in turn, and then succeeds. */
function failing(...errors: readonly Error[]) {
  let starts = 0
  const start = async () => {
    const error = errors[starts]
    starts += 1
    if (error !== undefined) throw error
    return 'started'
  }
  return { start, count: () => starts }
}

describe('a start of the server', () => {
  test('is tried again after a pause while the store is unavailable', async () => {
    using time = takeTime()
    const { start, count } = failing(new StoreUnavailable('late'), new StoreUnavailable('late'))
    const started = startRetried(start, { log, ended: running })
    await time.advance(limits.startPauseMs - 1)
    assert.equal(count(), 1)
    await time.advance(1)
    assert.equal(count(), 2)
    await time.advance(limits.startPauseMs)
    assert.equal(await started, 'started')
    assert.equal(count(), 3)
  })

  test('fails at once where another try cannot help', async () => {
    for (const error of [
      new NoPrimary('none'),
      new StoreDamaged('damaged'),
      new ConfigError('wrong'),
      new TypeError('a bug'),
    ]) {
      const { start, count } = failing(error)
      await assert.rejects(startRetried(start, { log, ended: running }), error)
      assert.equal(count(), 1)
    }
  })

  test('fails with the first failure after its time', async () => {
    using time = takeTime()
    const late = new StoreUnavailable('late')
    const starts = limits.startRetriedMs / limits.startPauseMs + 2
    const { start, count } = failing(...Array.from({ length: starts }, () => late))
    let failure: unknown
    const failed = startRetried(start, { log, ended: running }).catch((error) => {
      failure = error
    })
    await time.advance(limits.startRetriedMs)
    assert.deepEqual([count(), failure], [starts - 1, undefined])
    await time.advance(limits.startPauseMs)
    await failed
    assert.deepEqual([count(), failure], [starts, late])
  })

  test('fails at once when the process must end', async () => {
    using time = takeTime()
    const late = new StoreUnavailable('late')
    const { start, count } = failing(late, late)
    const ended = Promise.withResolvers<unknown>()
    const failed = assert.rejects(startRetried(start, { log, ended: ended.promise }), late)
    await time.advance(limits.startPauseMs - 1)
    ended.resolve('SIGTERM')
    await failed
    assert.equal(count(), 1)
  })
})
