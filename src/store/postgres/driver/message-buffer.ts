/** The buffer that one session reads its messages into. It hands out whole messages, uncopied. */
export type MessageBuffer = {
  /** Where the next read may write. */
  room(): Buffer
  /** Notes that `length` bytes were read. Returns the messages that are now whole, if any. */
  take(length: number): Buffer | undefined
}

/**
 * A message is one byte for its type and four for its length, which counts itself (PostgreSQL,
 * "Message Formats"). The buffer is reused once the server is ready for the next statement. Node
 * would allocate 64 KB for every read, and the driver would join the parts in a third buffer.
 */
export function openMessageBuffer(): MessageBuffer {
  let buffer: Buffer = Buffer.allocUnsafeSlow(ROOM_BYTES)
  // The ends of what was handed out, of the last whole message, and of what was read.
  let taken = 0
  let whole = 0
  let end = 0
  let isReady = true
  const missing = (): number => {
    const read = end - whole
    return read < HEAD_BYTES ? HEAD_BYTES - read : 1 + buffer.readUInt32BE(whole + 1) - read
  }
  const moveTo = (fresh: Buffer) => {
    buffer.copy(fresh, 0, taken, end)
    whole -= taken
    end -= taken
    taken = 0
    buffer = fresh
  }
  return {
    room: () => {
      if (isReady && taken === end) {
        if (buffer.length > ROOM_KEPT_BYTES) buffer = Buffer.allocUnsafeSlow(ROOM_BYTES)
        taken = 0
        whole = 0
        end = 0
      }
      const needed = Math.max(missing(), READ_BYTES_MIN)
      if (buffer.length - end < needed) {
        // A reader may still use what was handed out, so this never moves bytes within a buffer.
        moveTo(Buffer.allocUnsafeSlow(Math.max(2 * buffer.length, end - taken + needed)))
      }
      return buffer.subarray(end)
    },
    take: (length) => {
      end += length
      while (end - whole >= HEAD_BYTES && missing() <= 0) {
        const type = String.fromCharCode(buffer[whole] ?? 0)
        if (!unasked.has(type)) isReady = type === READY_FOR_QUERY
        whole += 1 + buffer.readUInt32BE(whole + 1)
      }
      if (whole === taken) return undefined
      const messages = buffer.subarray(taken, whole)
      taken = whole
      return messages
    },
  }
}

const HEAD_BYTES = 5
const READY_FOR_QUERY = 'Z'
/** Notifications, notices and changed parameters, which the server may send at any time. */
const unasked = new Set(['A', 'N', 'S'])
/** Some pages of a hundred records. */
const ROOM_BYTES = 256 * 1024
/** A larger buffer is replaced as soon as it is free. */
const ROOM_KEPT_BYTES = 2 * 1024 * 1024
const READ_BYTES_MIN = 16 * 1024
