import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { openLentBuffers } from '../../src/platform/lent-buffers.ts'

describe('lent buffers', () => {
  test('are lent again only after they were returned', () => {
    const buffers = openLentBuffers()
    const first = buffers.lend(70_000)
    const second = buffers.lend(70_000)
    assert.notEqual(first.buffer, second.buffer)
    buffers.takeBack(first)
    assert.equal(buffers.lend(71_000).buffer, first.buffer)
  })

  test('have the requested length, whatever the size of their memory', () => {
    const buffers = openLentBuffers()
    for (const length of [0, 1, 16_384, 16_385, 70_000, 1_048_576, 2_000_000]) {
      const buffer = buffers.lend(length)
      assert.equal(buffer.length, length, `${length} bytes`)
      buffers.takeBack(buffer)
    }
  })

  test('are returned once, even if given back twice', () => {
    const buffers = openLentBuffers()
    const first = buffers.lend(70_000)
    buffers.takeBack(first)
    buffers.takeBack(first)
    assert.notEqual(buffers.lend(70_000).buffer, buffers.lend(70_000).buffer)
  })

  test('are not accepted if they were never lent', () => {
    const buffers = openLentBuffers()
    const own = Buffer.alloc(65_536)
    buffers.takeBack(own)
    assert.notEqual(buffers.lend(65_536).buffer, own.buffer)
  })

  test('are dropped beyond the limit of kept bytes', () => {
    const buffers = openLentBuffers()
    const lent = Array.from({ length: 200 }, () => buffers.lend(100_000))
    for (const buffer of lent) buffers.takeBack(buffer)
    const rooms = new Set(lent.map(({ buffer }) => buffer))
    const again = Array.from({ length: 200 }, () => buffers.lend(100_000))
    const kept = again.filter(({ buffer }) => rooms.has(buffer)).length
    assert.equal(kept * 131_072, 8 * 1024 * 1024)
  })
})
