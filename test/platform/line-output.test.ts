import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { limits } from '../../src/platform/limits.ts'
import { openLineOutput } from '../../src/platform/machine/line-output.ts'
import { systemTime } from '../../src/platform/time.ts'
import { turn } from '../support/until.ts'
import { takeTime } from '../support/virtual-time.ts'

/** An output whose writes are noted, as long as its reader reads. */
function openNoted() {
  const writes: string[] = []
  const reader = { reads: true }
  const noted: number[] = []
  let tries = 0
  const output = openLineOutput(
    (dropped) => {
      noted.push(dropped)
      output.write(`${dropped} dropped\n`, true)
    },
    () => (bytes) => {
      tries += 1
      if (!reader.reads) throw Object.assign(new Error('the pipe is full'), { code: 'EAGAIN' })
      writes.push(Buffer.from(bytes).toString())
      return bytes.length
    },
  )
  return { output, writes, reader, noted, tries: () => tries }
}

test('the lines of one turn are written with one write, in their order', async () => {
  const { output, writes } = openNoted()
  const lines = Array.from({ length: 20 }, (_, at) => `line ${at}\n`)
  for (const line of lines) output.write(line, false)
  assert.deepEqual(writes, [])
  await turn()
  assert.deepEqual(writes, [lines.join('')])
  output.write('later\n', false)
  await turn()
  assert.deepEqual(writes, [lines.join(''), 'later\n'])
})

test('an urgent line is written at once, after those of its turn', () => {
  const { output, writes } = openNoted()
  output.write('first\n', false)
  output.write('urgent\n', true)
  assert.deepEqual(writes, ['first\nurgent\n'])
})

test('a write has whole lines, and no more bytes than a pipe takes whole', async () => {
  const { output, writes } = openNoted()
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

test('a turn that logs much does not wait for its end', () => {
  const { output, writes } = openNoted()
  const line = `${'x'.repeat(999)}\n`
  for (let at = 0; at < 1000; at += 1) output.write(line, false)
  assert.ok(writes.join('').length >= 900_000)
  assert.deepEqual(output.state(), { dropped: 0, waitingBytes: 0 })
})

test('lines that nobody reads are kept up to the limit, in order, and further ones counted', async () => {
  using time = takeTime()
  const { output, writes, reader, noted } = openNoted()
  reader.reads = false
  output.write('first\n', false)
  await turn()
  assert.deepEqual(output.state(), { dropped: 0, waitingBytes: 6 })
  const line = `${'x'.repeat(1023)}\n`
  const kept = Math.floor((limits.logWaitingBytesMax - 6) / line.length)
  for (let at = 0; at < kept + 10; at += 1) output.write(line, at % 2 === 0)
  assert.deepEqual(writes, [])
  reader.reads = true
  await time.advance(9)
  assert.deepEqual(writes, [])
  await time.advance(1)
  assert.deepEqual(noted, [10])
  assert.equal(writes.join(''), `first\n${line.repeat(kept)}10 dropped\n`)
  assert.deepEqual(output.state(), { dropped: 10, waitingBytes: 0 })
})

test('a reader that has stopped is looked for less and less often, up to a limit', async () => {
  using time = takeTime()
  const { output, reader, tries, writes } = openNoted()
  reader.reads = false
  output.write('first\n', true)
  for (const pauseMs of [10, 20, 40, 80, 160, 200, 200]) {
    const before = tries()
    await time.advance(pauseMs - 1)
    assert.equal(tries(), before)
    await time.advance(1)
    assert.equal(tries(), before + 1)
  }
  reader.reads = true
  await time.advance(200)
  assert.deepEqual([writes, time.waiting()], [['first\n'], 0])
})

test('the end of the process waits for a reader, and not long', (t) => {
  for (const readsAfterMs of [limits.logFlushMs - 5, Number.POSITIVE_INFINITY]) {
    using time = takeTime()
    const exits = process.listeners('exit')
    const { output, reader, writes } = openNoted()
    reader.reads = false
    output.write('last\n', true)
    let sleptMs = 0
    t.mock.method(Atomics, 'wait', (_: unknown, __: number, ___: number, ms: number) => {
      sleptMs += ms
      reader.reads = sleptMs >= readsAfterMs
    })
    Object.assign(systemTime, { elapsedMs: () => time.elapsedMs() + sleptMs })
    for (const listener of process.listeners('exit')) {
      if (exits.includes(listener)) continue
      listener(0)
      process.off('exit', listener)
    }
    t.mock.restoreAll()
    const isRead = Number.isFinite(readsAfterMs)
    assert.deepEqual(
      [sleptMs, writes],
      isRead ? [readsAfterMs, ['last\n']] : [limits.logFlushMs, []],
    )
    // Else it would go on trying in the tests that follow.
    reader.reads = true
  }
})

test('no line of the last turn is lost when the process ends', () => {
  const url = new URL('../../src/platform/log.ts', import.meta.url)
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
  const url = new URL('../../src/platform/log.ts', import.meta.url)
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
