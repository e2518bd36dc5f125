import assert from 'node:assert/strict'
import cluster from 'node:cluster'
import { EventEmitter } from 'node:events'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { type Config, limitNamed, openLog, turn } from '@bursar/base'
import { type PrometheusContentType, Registry } from '@prometheus-io/client'
import { pino } from 'pino'
import { temporaryFolder } from '../../../test/support/harness.ts'
import { startProgram } from '../../../test/support/program.ts'
import { takeTime } from '../../../test/support/virtual-time.ts'
import { openInterruption } from '../src/processes/interruption.ts'
import { mergeWithOthers } from '../src/processes/merged-metrics.ts'
import { untilSignalled } from '../src/processes/signals.ts'
import { superviseWorkers } from '../src/processes/workers.ts'

const names = ['SIGTERM', 'SIGINT', 'SIGHUP', 'exit'] as const

/** Calls what has been added as a listener since, and not those of the test runner. */
function listening(context: TestContext) {
  const before = names.map((name) => process.listeners(name as 'SIGTERM'))
  const added = () =>
    names.flatMap((name, at) =>
      process
        .listeners(name as 'SIGTERM')
        .filter((listener) => !before[at]?.includes(listener))
        .map((listener) => ({ name, listener })),
    )
  context.after(() => {
    for (const { name, listener } of added()) process.off(name, listener)
  })
  return (signal: 'SIGTERM' | 'SIGINT') => {
    for (const { name, listener } of added()) if (name === signal) listener(signal as 'SIGTERM')
  }
}

test('a second signal counts unless npm has forwarded the first', async (t) => {
  const signal = listening(t)
  using time = takeTime()
  let seconds = 0
  const onSecond = () => {
    seconds += 1
  }
  const signalled = untilSignalled(openLog('silent'), { onSecond })
  signal('SIGTERM')
  assert.equal(await signalled, 'SIGTERM')
  await time.advance(limitNamed('signalForwardedMs'))
  signal('SIGINT')
  assert.equal(seconds, 0)
  await time.advance(1)
  signal('SIGINT')
  assert.equal(seconds, 1)
})

test('a signal that comes again until the process has ended does not change its code', async (t) => {
  const limits = new URL('../../base/src/declare-limits.ts', import.meta.url).href
  const setter = `import { setLimit } from '${limits}'; setLimit('signalForwardedMs', 3_600_000)`
  const preload = `--import=data:text/javascript,${encodeURIComponent(setter)}`
  const program = startProgram(['serve', '--port', '0'], {
    env: {
      DATABASE_URL: `sqlite:${join(temporaryFolder(), 'bursar.db')}`,
      NODE_OPTIONS: `${process.env.NODE_OPTIONS ?? ''} ${preload}`,
    },
  })
  t.after(() => program.kill('SIGKILL'))
  await program.firstLine
  let hasEnded = false
  const ended = program.ended.finally(() => {
    hasEnded = true
  })
  while (!hasEnded) {
    program.process.kill('SIGINT')
    await turn()
  }
  assert.equal(await ended, 0)
})

test('an import that is stopped waits a moment for its note, and then ends', async (t) => {
  const signal = listening(t)
  const exits: unknown[] = []
  t.mock.method(process, 'exit', (code: unknown) => void exits.push(code))
  using time = takeTime()
  const interruption = openInterruption({ tell: () => {} })
  interruption.beforeExit(
    () => {},
    () => new Promise(() => {}),
  )
  signal('SIGTERM')
  await time.advance(limitNamed('importNotedMs') - 1)
  assert.deepEqual(exits, [])
  await time.advance(1)
  assert.deepEqual(exits, [143])
})

describe('the first of several processes', () => {
  /** A worker that a test makes ready and lets die. */
  class FakeWorker extends EventEmitter {
    readonly signals: string[] = []
    readonly process = Object.assign(new EventEmitter(), {
      pid: 4711,
      connected: false,
      kill: (signal: string) => {
        this.signals.push(signal)
        if (signal === 'SIGKILL') this.die(null, signal)
      },
    })
    die(code: number | null, signal: string | null = null) {
      this.process.emit('exit', code, signal)
    }
  }

  /** Two workers that are ready. */
  async function start(t: TestContext) {
    const signal = listening(t)
    const workers: FakeWorker[] = []
    t.mock.method(cluster, 'setupPrimary', () => {})
    t.mock.method(cluster, 'fork', () => {
      const worker = new FakeWorker()
      workers.push(worker)
      setImmediate(() => worker.emit('message', { url: 'http://worker' }))
      return worker
    })
    const policy = cluster.schedulingPolicy
    t.after(() => {
      cluster.schedulingPolicy = policy
    })
    const delays: number[] = []
    const log = pino({}, { write: (line) => void delays.push(JSON.parse(line).delayMs ?? []) })
    const config = { host: '127.0.0.1', port: 1, workers: 2, lameDuckMs: 3000 } as Config
    const announced = Promise.withResolvers<string>()
    const ended = superviseWorkers({ config, log, announce: announced.resolve })
    await announced.promise
    const newest = () => workers.at(-1) ?? assert.fail('no worker')
    return { signal, workers, newest, ended, config, delays: () => delays.flat() }
  }

  test('replaces a worker that dies early after a pause that doubles, up to a limit', async (t) => {
    using time = takeTime()
    const { workers, newest, delays } = await start(t)
    const expected = [
      200,
      400,
      800,
      1600,
      3200,
      6400,
      12_800,
      25_600,
      limitNamed('workerDelayMsMax'),
    ]
    for (const delayMs of expected) {
      const before = workers.length
      newest().die(1)
      await time.advance(delayMs - 1)
      assert.equal(workers.length, before)
      await time.advance(1)
      assert.equal(workers.length, before + 1)
    }
    await time.advance(limitNamed('workerSettledMs'))
    newest().die(1)
    await time.advance(0)
    await time.advance(limitNamed('workerSettledMs') - 1)
    newest().die(1)
    await time.advance(0)
    assert.deepEqual(delays(), [...expected, 0, 200])
  })

  test('starts no worker that waits for its pause when it must end', async (t) => {
    using time = takeTime()
    const { workers, newest, ended, signal } = await start(t)
    newest().die(1)
    await time.advance(199)
    signal('SIGTERM')
    await time.advance(0)
    workers[0]?.die(0)
    assert.equal(await ended, 0)
    assert.deepEqual([workers.length, time.waiting()], [2, 0])
  })

  test('kills workers that have not ended in their time', async (t) => {
    using time = takeTime()
    const { workers, ended, signal, config } = await start(t)
    signal('SIGTERM')
    const listenerSettleMsMax = limitNamed('listenerSettleMsMax')
    const drainTimeoutMs = limitNamed('drainTimeoutMs')
    const workerDrainGraceMs = limitNamed('workerDrainGraceMs')
    const { lameDuckMs } = config
    const deadlineMs = lameDuckMs + listenerSettleMsMax + drainTimeoutMs + workerDrainGraceMs
    // It counts from the signal, which the process handles in its next turn.
    await time.advance(0)
    await time.advance(deadlineMs - 1)
    const signals = () => workers.map((worker) => worker.signals)
    assert.deepEqual(signals(), [['SIGTERM'], ['SIGTERM']])
    await time.advance(1)
    assert.equal(await ended, 1)
    assert.deepEqual(signals(), [
      ['SIGTERM', 'SIGKILL'],
      ['SIGTERM', 'SIGKILL'],
    ])
  })
})

test('metrics of all workers are refused where the first process does not answer', async (t) => {
  const listeners = process.listeners('message')
  const sent: unknown[] = []
  const own = { connected: process.connected, send: process.send }
  Object.assign(process, { connected: true, send: (message: unknown) => sent.push(message) })
  t.after(() => {
    Object.assign(process, own)
    for (const listener of process.listeners('message')) {
      if (!listeners.includes(listener)) process.off('message', listener)
    }
  })
  using time = takeTime()
  const read = mergeWithOthers(new Registry<PrometheusContentType>())
  let refusal: { status?: number } | undefined
  const refused = read().catch((error) => {
    refusal = error
  })
  await time.advance(limitNamed('metricsMergedMs') - 1)
  assert.deepEqual([sent.length, refusal], [1, undefined])
  await time.advance(1)
  await refused
  assert.equal(refusal?.status, 503)
})
