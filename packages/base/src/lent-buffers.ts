import { getOrInsert } from './values/get-or-insert.ts'
/** Memory for bodies that is used again: lent, filled, sent, and taken back once that is done. */
export type LentBuffers = {
  /** A buffer of this length with arbitrary content. The borrower must fill every byte. */
  lend(length: number): Buffer
  /** A longer buffer that begins with the first bytes of a buffer, which is taken back. */
  lendMore(buffer: Buffer, used: number, length: number): Buffer
  /** Bytes between two ASCII texts: in place if they are in lent memory, else in a lent copy. */
  enclose(bytes: Uint8Array, head: string, tail: string): Buffer
  /** Ignores a buffer that is returned twice. A buffer that is never returned is collected. */
  takeBack(buffer: Uint8Array): void
}

/** Without reuse, bodies cause full garbage collections (decision 30). */
export function openLentBuffers(): LentBuffers {
  const idle = new Map<number, ArrayBuffer[]>()
  const lent = new WeakSet<ArrayBufferLike>()
  let idleBytes = 0
  const lend = (length: number): Buffer => {
    if (length < LENGTH_MIN) return Buffer.allocUnsafe(length)
    const size = sizeFor(HEAD_ROOM + length + TAIL_ROOM)
    const kept = idle.get(size)?.pop()
    if (kept !== undefined) idleBytes -= size
    const room = kept ?? new ArrayBuffer(size)
    lent.add(room)
    return Buffer.from(room, HEAD_ROOM, length)
  }
  const takeBack = ({ buffer: room }: Uint8Array): void => {
    if (!lent.delete(room) || !(room instanceof ArrayBuffer)) return
    const size = room.byteLength
    if (idleBytes + size > IDLE_BYTES_MAX) {
      freeMemory(room)
      return
    }
    idleBytes += size
    getOrInsert(idle, size, () => []).push(room)
  }
  return {
    lend,
    lendMore: (buffer, used, length) => {
      const longer = lend(length)
      buffer.copy(longer, 0, 0, used)
      takeBack(buffer)
      return longer
    },
    enclose: (bytes, head, tail) => {
      const { buffer: room, byteOffset, length } = bytes
      const start = byteOffset - head.length
      const whole = head.length + length + tail.length
      const isInPlace = lent.has(room) && start >= 0 && start + whole <= room.byteLength
      const body = isInPlace ? Buffer.from(room, start, whole) : lend(whole)
      if (!isInPlace) body.set(bytes, head.length)
      body.write(head, 0, 'latin1')
      body.write(tail, head.length + length, 'latin1')
      return body
    },
    takeBack,
  }
}

/** The memory of pages, from the store that reads them to the socket that sends them. */
export const pageBuffers = openLentBuffers()

/**
 * Frees memory that is not used again, at once. Memory outside the heap that waits for the
 * collector makes it run a full collection every few pages.
 */
export function freeMemory(memory: ArrayBufferLike): void {
  if (memory instanceof ArrayBuffer) memory.transfer(0)
}

/** Smaller buffers come from the runtime's own pool. */
const LENGTH_MIN = 16 * 1024
/** Room around the bytes for an envelope, and for a cursor after them. */
const HEAD_ROOM = 64
const TAIL_ROOM = 1024
/** Sixteen pages of a thousand records: as many as one client has in flight. */
const IDLE_BYTES_MAX = 16 * 1024 * 1024

/** The next power of two, so that few sizes serve every page. */
const sizeFor = (length: number): number => 2 ** Math.ceil(Math.log2(length))
