import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { describe, test } from 'node:test'
import type { Problem } from '../../../src/contract/problem.ts'
import { watchRate } from '../../../src/intake/requests/stream-rate.ts'

const bounds = { streamWindowSeconds: 60, streamWindowBytesMin: 1000 }

/** A stream whose seconds the test counts. */
function watched() {
  const source = new Readable({ read: () => {} })
  let bytes = 0
  let tick = () => {}
  const ended: Problem[] = []
  const after = (_ms: number, task: () => void) => {
    tick = task
    return () => {
      tick = () => {}
    }
  }
  const end = (reason: Problem) => void ended.push(reason)
  const stop = watchRate({ source, bytesReceived: () => bytes, end }, { after }, bounds)
  return {
    source,
    ended,
    stop,
    receive: (count: number) => {
      bytes += count
    },
    wait: (seconds: number) => {
      for (let second = 0; second < seconds; second += 1) tick()
    },
  }
}

describe('a stream', () => {
  test('that sends too little in a minute is ended, and its answer says so', () => {
    const { ended, receive, wait } = watched()
    receive(1000)
    wait(60)
    assert.equal(ended.length, 0)
    receive(999)
    wait(59)
    assert.equal(ended.length, 0)
    wait(1)
    const detail =
      'the stream sent 999 bytes in 60 seconds, and must send 1000; collect the records before you send them'
    assert.deepEqual(
      ended.map(({ status, message, headers }) => ({ status, message, headers })),
      [{ status: 408, message: detail, headers: { connection: 'close' } }],
    )
  })

  test('is not ended for the time in which the server is the slow side', () => {
    const { source, ended, wait } = watched()
    source.push('not read yet')
    source.read(0)
    wait(600)
    assert.equal(ended.length, 0)
    source.read()
    wait(60)
    assert.equal(ended.length, 1)
  })

  test('is not watched any more once it was read', () => {
    const { ended, stop, wait } = watched()
    stop()
    wait(600)
    assert.equal(ended.length, 0)
  })
})
