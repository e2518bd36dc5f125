import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import { type TestContext, test } from 'node:test'
import { turn } from '../../../test/support/until.ts'
import { takeTime } from '../../../test/support/virtual-time.ts'
import { limitNamed } from '../src/declare-limits.ts'
import { openLogOutput } from '../src/machine/stderr.ts'
import { systemTime } from '../src/time.ts'

/** No descriptor of this process. */
const DESCRIPTOR = 54_321

/** An output whose writes are noted, as long as its reader reads. */
function openNoted(t: TestContext) {
  const writes: string[] = []
  const reader = { reads: true, fault: 'EAGAIN' }
  const noted: number[] = []
  let tries = 0
  const { writeSync } = fs
  t.mock.method(fs, 'writeSync', (descriptor: number, data: Buffer, ...rest: number[]) => {
    // Of other descriptors the bytes pass as they are.
    if (descriptor !== DESCRIPTOR) return writeSync(descriptor, data, ...rest)
    tries += 1
    if (!reader.reads) throw Object.assign(new Error('nobody reads'), { code: reader.fault })
    if (data.length > 0) writes.push(data.toString())
    return Buffer.byteLength(data)
  })
  const exits = process.listeners('exit')
  const output = openLogOutput(
    (dropped) => {
      noted.push(dropped)
      output.write(`${dropped} dropped\n`, true)
    },
    () => DESCRIPTOR,
  )
  /** What happens at the end of the process. It has nothing more to do then. */
  const exit = () => {
    for (const listener of process.listeners('exit')) {
      if (exits.includes(listener)) continue
      process.off('exit', listener)
      listener(0)
    }
  }
  t.after(() => {
    reader.reads = true
    exit()
  })
  return { output, writes, reader, noted, tries: () => tries, exit }
}

test('the lines of one turn are written with one write, in their order', async (t) => {
  const { output, writes } = openNoted(t)
  const lines = Array.from({ length: 20 }, (_, at) => `line ${at}\n`)
  for (const line of lines) output.write(line, false)
  assert.deepEqual(writes, [])
  await turn()
  assert.deepEqual(writes, [lines.join('')])
  output.write('later\n', false)
  await turn()
  assert.deepEqual(writes, [lines.join(''), 'later\n'])
})

test('an urgent line is written at once, after those of its turn', (t) => {
  const { output, writes } = openNoted(t)
  output.write('first\n', false)
  output.write('urgent\n', true)
  assert.deepEqual(writes, ['first\nurgent\n'])
})

test('a write has whole lines, and no more bytes than a pipe takes whole', async (t) => {
  const { output, writes } = openNoted(t)
  const line = `${'é'.repeat(100)}\n`
  for (let at = 0; at < 100; at += 1) output.write(line, false)
  const long = `${'x'.repeat(10_000)}\n`
  output.write(long, false)
  await turn()
  assert.equal(writes.join(''), line.repeat(100) + long)
  assert.equal(writes.pop(), long)
  assert.deepEqual(
    writes.map((text) => [text.length % line.length, Buffer.byteLength(text) <= 4096]),
    writes.map(() => [0, true]),
  )
  assert.equal(writes.length, 5)
})

test('a turn that logs much does not wait for its end', (t) => {
  const { output, writes } = openNoted(t)
  const line = `${'x'.repeat(999)}\n`
  for (let at = 0; at < 1000; at += 1) output.write(line, false)
  assert.ok(writes.join('').length >= 900_000)
  assert.deepEqual(output.state(), { dropped: 0, isBehind: false })
})

for (const fault of ['EAGAIN', 'ENOSPC', 'EPIPE']) {
  test(`lines that nobody reads (${fault}) are kept up to the limit, in order, and further ones counted`, async (t) => {
    using time = takeTime()
    const { output, writes, reader, noted } = openNoted(t)
    Object.assign(reader, { reads: false, fault })
    output.write('first\n', false)
    await turn()
    assert.deepEqual(output.state(), { dropped: 0, isBehind: true })
    const line = `${'x'.repeat(1023)}\n`
    const kept = Math.floor((limitNamed('logWaitingBytesMax') - 6) / line.length)
    for (let at = 0; at < kept + 10; at += 1) output.write(line, at % 2 === 0)
    await turn()
    await time.advance(250)
    assert.deepEqual([writes, noted, output.state()], [[], [], { dropped: 10, isBehind: true }])
    reader.reads = true
    await time.advance(99)
    assert.equal(writes.join(''), `first\n${line.repeat(kept)}10 dropped\n`)
    assert.deepEqual([noted, output.state()], [[10], { dropped: 10, isBehind: false }])
    await time.advance(100)
    assert.deepEqual([noted, time.waiting()], [[10], 0])
  })
}

test('the end of the process waits for a reader, and not long', (t) => {
  for (const readsAfterMs of [limitNamed('logFlushMs') - 5, Number.POSITIVE_INFINITY]) {
    using time = takeTime()
    const { output, reader, writes, exit } = openNoted(t)
    reader.reads = false
    output.write('last\n', true)
    let sleptMs = 0
    const sleep = t.mock.method(
      Atomics,
      'wait',
      (_: unknown, __: number, ___: number, ms: number) => {
        sleptMs += ms
        reader.reads = sleptMs >= readsAfterMs
      },
    )
    Object.assign(systemTime, { elapsedMs: () => time.elapsedMs() + sleptMs })
    exit()
    sleep.mock.restore()
    const isRead = Number.isFinite(readsAfterMs)
    assert.deepEqual(
      [sleptMs, writes],
      isRead ? [readsAfterMs, ['last\n']] : [limitNamed('logFlushMs'), []],
    )
  }
})

test('no line of the last turn is lost when the process ends', () => {
  const url = new URL('../src/log.ts', import.meta.url)
  const script = `
    const { openLog } = await import(${JSON.stringify(url.href)})
    const log = openLog('info')
    for (let at = 0; at < 50; at += 1) log.info({ at }, 'request')
    process.exit(3)`
  const { status, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script])
  const lines = stderr.toString().trimEnd().split('\n')
  assert.deepEqual(
    [status, lines.map((line) => JSON.parse(line).at)],
    [3, Array.from({ length: 50 }, (_, at) => at)],
  )
})

test('a line about anything but a request is written before the next statement', () => {
  const url = new URL('../src/log.ts', import.meta.url)
  const script = `
    const { openLog } = await import(${JSON.stringify(url.href)})
    const log = openLog('info')
    log.info('request')
    log.info('a worker is ready')
    process.kill(process.pid, 'SIGKILL')`
  const { stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script])
  const lines = stderr.toString().trimEnd().split('\n')
  assert.deepEqual(
    lines.map((line) => JSON.parse(line).msg),
    ['request', 'a worker is ready'],
  )
})
