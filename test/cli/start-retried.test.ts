import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { startRetried } from '../../src/cli/processes/start-retried.ts'
import { ConfigError } from '../../src/platform/config.ts'
import { openLog } from '../../src/platform/log.ts'
import { NoPrimary, StoreDamaged, StoreUnavailable } from '../../src/store/unavailable.ts'

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
  test('is tried again while the store is unavailable', async () => {
    const { start, count } = failing(new StoreUnavailable('late'), new StoreUnavailable('late'))
    assert.equal(await startRetried(start, { log, ended: running }), 'started')
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

  test('fails after its time, and when the process must end', async () => {
    const late = new StoreUnavailable('late')
    const slow = failing(late, late)
    await assert.rejects(startRetried(slow.start, { log, ended: running, withinMs: 0 }), late)
    assert.equal(slow.count(), 1)
    const stopped = failing(late, late)
    const ended = Promise.resolve('SIGTERM')
    await assert.rejects(startRetried(stopped.start, { log, ended }), late)
    assert.equal(stopped.count(), 1)
  })
})
