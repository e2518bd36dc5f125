import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { describe, test } from 'node:test'
import type { Problem } from '@bursar/contract'
import { takeTime } from '../../../../test/support/virtual-time.ts'
import { watchRate } from '../../src/requests/stream-rate.ts'

const bounds = { streamWindowSeconds: 60, streamWindowBytesMin: 1000 }

/** A stream that is watched. */
function watched() {
  const source = new Readable({ read: () => {} })
  let bytes = 0
  const ended: Problem[] = []
  const end = (reason: Problem) => void ended.push(reason)
  const stop = watchRate({ source, bytesReceived: () => bytes, end }, bounds)
  return {
    source,
    ended,
    stop,
    receive: (count: number) => {
      bytes += count
    },
  }
}

describe('a stream', () => {
  test('that sends too little in a minute is ended, and its answer says so', async () => {
    using time = takeTime()
    const { ended, receive, stop } = watched()
    receive(1000)
    await time.advance(60_000)
    assert.equal(ended.length, 0)
    receive(999)
    await time.advance(59_000)
    assert.equal(ended.length, 0)
    await time.advance(1_000)
    const detail =
      'the stream sent 999 bytes in 60 seconds, and must send 1000; collect the records before you send them'
    assert.deepEqual(
      ended.map(({ status, message, headers }) => ({ status, message, headers })),
      [{ status: 408, message: detail, headers: { connection: 'close' } }],
    )
    stop()
  })

  test('is not ended for the time in which the server is the slow side', async () => {
    using time = takeTime()
    const { source, ended, stop } = watched()
    source.push('not read yet')
    source.read(0)
    await time.advance(600_000)
    assert.equal(ended.length, 0)
    source.read()
    await time.advance(60_000)
    assert.equal(ended.length, 1)
    stop()
  })

  test('is not watched any more once it was read', async () => {
    using time = takeTime()
    const { ended, stop } = watched()
    stop()
    await time.advance(600_000)
    assert.equal(ended.length, 0)
  })
})
