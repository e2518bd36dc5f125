import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { freeMemory, openLentBuffers } from '../src/lent-buffers.ts'

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

  test('are freed beyond the limit of idle bytes', () => {
    const buffers = openLentBuffers()
    const lent = Array.from({ length: 200 }, () => buffers.lend(100_000))
    for (const buffer of lent) buffers.takeBack(buffer)
    const kept = lent.filter(({ buffer }) => buffer.byteLength > 0)
    assert.equal(kept.length * 131_072, 16 * 1024 * 1024)
    assert.equal(new Set(kept.map(({ buffer }) => buffer)).size, kept.length)
  })

  test('grow with their first bytes', () => {
    const buffers = openLentBuffers()
    const short = buffers.lend(20_000).fill('a')
    const longer = buffers.lendMore(short, 10_000, 90_000)
    assert.deepEqual(
      [longer.length, longer.toString('latin1', 0, 10_000)],
      [90_000, 'a'.repeat(10_000)],
    )
    assert.equal(buffers.lend(20_000).buffer, short.buffer)
  })

  test('take an envelope in place, and other bytes are copied into one', () => {
    const buffers = openLentBuffers()
    for (const length of [0, 5, 16_384, 70_000, 3_000_000]) {
      const lent = buffers.lend(length).fill('x')
      const own = Buffer.alloc(length, 'x')
      for (const bytes of [lent, own]) {
        const body = buffers.enclose(bytes, '{"items":[', ']}')
        assert.equal(body.toString(), `{"items":[${'x'.repeat(length)}]}`, `${length} bytes`)
        // Smaller ones share memory of the runtime.
        if (length >= 16_384) assert.equal(body.buffer === bytes.buffer, bytes !== own)
        buffers.takeBack(body)
      }
    }
  })

  test('are copied for an envelope that has no room around them', () => {
    const buffers = openLentBuffers()
    const bytes = buffers.lend(20_000).fill('x')
    const [head, tail] = ['h'.repeat(100), 't'.repeat(40_000)]
    assert.equal(buffers.enclose(bytes, head, '').toString(), head + 'x'.repeat(20_000))
    assert.equal(buffers.enclose(bytes, '', tail).toString(), 'x'.repeat(20_000) + tail)
  })
})

describe('memory that is freed', () => {
  test('is gone at once', () => {
    const bytes = new Uint8Array(100_000)
    freeMemory(bytes.buffer)
    assert.deepEqual([bytes.length, bytes.buffer.byteLength], [0, 0])
  })
})
