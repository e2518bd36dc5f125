import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { openMessageBuffer } from '../src/driver/message-buffer.ts'

describe('a session’s messages', () => {
  const READY = message('Z', 1)

  test('are returned whole, however the reads split them', () => {
    const sent = Buffer.concat([message('T', 30), message('D', 700), message('C', 9), READY])
    for (const size of [1, 2, 5, 7, 100, sent.length]) {
      const seen = readAll(openMessageBuffer(), sent, size)
      assert.deepEqual(Buffer.concat(seen), sent, `${size} bytes a read`)
      for (const piece of seen) assertWhole(piece)
    }
  })

  test('may be longer than the initial buffer', () => {
    const sent = Buffer.concat([message('D', 3_000_000), message('D', 700_000), READY])
    const seen = readAll(openMessageBuffer(), sent, 65_536)
    assert.equal(Buffer.compare(Buffer.concat(seen), sent), 0)
    for (const piece of seen) assertWhole(piece)
  })

  test('stay unchanged until the server is ready for the next statement', () => {
    const messages = openMessageBuffer()
    const rows = Array.from({ length: 40 }, (_, at) => message('D', 60_000 + at, at))
    const seen = rows.flatMap((row) => readAll(messages, row, 50_000))
    readAll(messages, READY, 100)
    assert.equal(Buffer.compare(Buffer.concat(seen), Buffer.concat(rows)), 0)
  })

  test('of the next statement reuse the buffer', () => {
    const messages = openMessageBuffer()
    const statement = (fill: number) =>
      readAll(messages, Buffer.concat([message('D', 100, fill), READY]), 1000)
    const [first] = statement(1)
    const [second] = statement(2)
    assert.equal(first?.buffer, second?.buffer)
    assert.equal(second?.[10], 2)
  })

  test('that arrive without a statement do not grow the buffer', () => {
    const messages = openMessageBuffer()
    readAll(messages, READY, 100)
    const room = messages.room().length
    for (let round = 0; round < 5000; round += 1) readAll(messages, message('A', 1000), 4096)
    assert.equal(messages.room().length, room)
  })

  test('release a buffer that grew for one large answer', () => {
    const messages = openMessageBuffer()
    readAll(messages, Buffer.concat([message('D', 5_000_000), READY]), 65_536)
    assert.ok(messages.room().length < 1_000_000)
  })
})

/** A type, four bytes for the length that counts itself, and so many bytes. */
function message(type: string, length: number, fill = 7): Buffer {
  const bytes = Buffer.alloc(5 + length, fill)
  bytes.write(type, 0, 'latin1')
  bytes.writeUInt32BE(4 + length, 1)
  return bytes
}

/** Reads as a socket does, at most `bytesMax` at a time. Returns views of the buffer, no copies. */
function readAll(
  messages: ReturnType<typeof openMessageBuffer>,
  sent: Buffer,
  bytesMax: number,
): Buffer[] {
  const seen: Buffer[] = []
  for (let at = 0; at < sent.length; ) {
    const room = messages.room()
    assert.ok(room.length > 0)
    const length = sent.copy(room, 0, at, Math.min(sent.length, at + bytesMax))
    const whole = messages.take(length)
    if (whole !== undefined) seen.push(whole)
    at += length
  }
  return seen
}

function assertWhole(piece: Buffer): void {
  let at = 0
  while (at < piece.length) at += 1 + piece.readUInt32BE(at + 1)
  assert.equal(at, piece.length)
}
