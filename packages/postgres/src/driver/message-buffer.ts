/** The read buffer of one session. Returns whole messages, without copying them. */
export type MessageBuffer = {
  /** The space that the next read may write to. */
  room(): Buffer
  /** Accepts the bytes that were read. Returns the messages that are now complete, if any. */
  take(length: number): Buffer | undefined
}

/**
 * A message is one byte for its type and four for its length, which includes itself (PostgreSQL,
 * "Message Formats"). The buffer is reused once the server is ready for the next statement. Without
 * it, Node allocates 64 KB for each read and the driver concatenates the parts.
 */
export function openMessageBuffer(): MessageBuffer {
  let buffer: Buffer = Buffer.allocUnsafeSlow(ROOM_BYTES)
  /** The ends of the messages returned, of the last complete message, and of the bytes read. */
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
        // Moves to a new buffer, because the driver may still be reading the messages in this one.
        const length = Math.max(2 * buffer.length, end - taken + needed)
        moveTo(Buffer.allocUnsafeSlow(length))
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
/** Notifications, notices and parameter changes, which may arrive without a statement. */
const unasked = new Set(['A', 'N', 'S'])
/** Holds several pages of a hundred records. */
const ROOM_BYTES = 256 * 1024
/** A larger buffer is released after the statement that needed it. */
const ROOM_KEPT_BYTES = 2 * 1024 * 1024
const READ_BYTES_MIN = 16 * 1024
