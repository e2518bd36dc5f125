import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ConfigError, limitNamed, openLog } from '@bursar/base'
import { NoPrimary, StoreDamaged, StoreServed, StoreUnavailable } from '@bursar/records'
import { pino } from 'pino'
import { takeTime } from '../../../test/support/virtual-time.ts'
import { startRetried } from '../src/processes/start-retried.ts'

const log = openLog('silent')
const running = new Promise<never>(() => {})
const config = { databaseUrl: 'postgres://bursar@127.0.0.1/bursar', lameDuckMs: 3000 }
const embedded = { databaseUrl: 'sqlite:data/bursar.db', lameDuckMs: 3000 }

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
    const started = startRetried(start, { config, log, ended: running })
    await time.advance(limitNamed('startPauseMs') - 1)
    assert.equal(count(), 1)
    await time.advance(1)
    assert.equal(count(), 2)
    await time.advance(limitNamed('startPauseMs'))
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
      await assert.rejects(startRetried(start, { config, log, ended: running }), error)
      assert.equal(count(), 1)
    }
  })

  test('fails with the first failure after its time', async () => {
    using time = takeTime()
    const late = new StoreUnavailable('late')
    const starts = limitNamed('startRetriedMs') / limitNamed('startPauseMs') + 2
    const { start, count } = failing(...Array.from({ length: starts }, () => late))
    let failure: unknown
    const failed = startRetried(start, { config, log, ended: running }).catch((error) => {
      failure = error
    })
    await time.advance(limitNamed('startRetriedMs'))
    assert.deepEqual([count(), failure], [starts - 1, undefined])
    await time.advance(limitNamed('startPauseMs'))
    await failed
    assert.deepEqual([count(), failure], [starts, late])
  })

  test('fails at once when the process must end', async () => {
    using time = takeTime()
    const late = new StoreUnavailable('late')
    const { start, count } = failing(late, late)
    const ended = Promise.withResolvers<unknown>()
    const failed = assert.rejects(startRetried(start, { config, log, ended: ended.promise }), late)
    await time.advance(limitNamed('startPauseMs') - 1)
    ended.resolve('SIGTERM')
    await failed
    assert.equal(count(), 1)
  })

  test('waits for the server before it on an embedded store, and says so once', async () => {
    using time = takeTime()
    const served = new StoreServed('data/bursar.db')
    const lines: string[] = []
    const memory = pino({}, { write: (line: string) => void lines.push(line) })
    // The one before it may be in its lame-duck period.
    const tries = (limitNamed('startRetriedMs') + embedded.lameDuckMs) / limitNamed('startPauseMs')
    const { start, count } = failing(...Array.from({ length: tries }, () => served))
    const started = startRetried(start, { config: embedded, log: memory, ended: running })
    await time.advance(tries * limitNamed('startPauseMs') - 1)
    assert.equal(count(), tries)
    await time.advance(1)
    assert.equal(await started, 'started')
    assert.deepEqual(
      lines.map((line) => JSON.parse(line).reason),
      [served.message],
    )
  })

  test('is refused after that time, and at once for other reasons there', async () => {
    using time = takeTime()
    const served = new StoreServed('data/bursar.db')
    const tries =
      (limitNamed('startRetriedMs') + embedded.lameDuckMs) / limitNamed('startPauseMs') + 2
    const second = failing(...Array.from({ length: tries }, () => served))
    const refused = assert.rejects(
      startRetried(second.start, { config: embedded, log, ended: running }),
      served,
    )
    await time.advance(tries * limitNamed('startPauseMs'))
    await refused
    const locked = failing(new StoreUnavailable('an import has locked it'))
    await assert.rejects(startRetried(locked.start, { config: embedded, log, ended: running }))
    assert.equal(locked.count(), 1)
  })
})
