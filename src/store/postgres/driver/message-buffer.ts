/** Room that one session's messages are read into, whole ones at a time and without a copy. */
export type MessageBuffer = {
  /** Where the next read may write. */
  room(): Buffer
  /** So many bytes were read. Answers the messages that are whole now, one after the other, or undefined. */
  take(length: number): Buffer | undefined
}

/**
 * A message is a byte for its type and four for its length, which counts itself (PostgreSQL's documentation, "Message
 * Formats"). What a statement answers stays where it was read until the server has said that it is ready for the next
 * one; then the same room is used again. A socket would allocate 64 KB for every read and the driver put the parts
 * together in a third place: a page costs less than collecting that.
 */
export function openMessageBuffer(): MessageBuffer {
  let buffer: Buffer = Buffer.allocUnsafeSlow(ROOM_BYTES)
  /** The end of what was handed out, the end of the last whole message, and the end of what was read. */
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
        // Never moved within: what was handed out of this room may still be looked at.
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
/** Notifications, notices and changed parameters come at any time, also where no statement is under way. */
const unasked = new Set(['A', 'N', 'S'])
/** Some pages of a hundred records. */
const ROOM_BYTES = 256 * 1024
/** A session that has once answered more gives that room back. */
const ROOM_KEPT_BYTES = 2 * 1024 * 1024
const READ_BYTES_MIN = 16 * 1024
