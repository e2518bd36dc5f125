/** Buffers that are used again: lent, filled, sent, and taken back when the system has their bytes. */
export type LentBuffers = {
  /** So many bytes, with whatever was in them before: the borrower fills every one. */
  lend(length: number): Buffer
  /** What is never given back is collected; what is given back twice is taken once. */
  takeBack(buffer: Buffer): void
}

/**
 * A body of a hundred records is garbage outside the heap; a few thousand in a second make the collector walk the whole
 * heap several times in that second (docs/decisions/0030-postgresql-adapter.md). The one that came back last is lent first.
 */
export function openLentBuffers(): LentBuffers {
  const idle = new Map<number, ArrayBuffer[]>()
  const lent = new WeakSet<ArrayBufferLike>()
  return {
    lend: (length) => {
      if (length < SIZE_MIN || length > SIZE_MAX) return Buffer.allocUnsafe(length)
      const size = sizeFor(length)
      const room = idle.get(size)?.pop() ?? new ArrayBuffer(size)
      lent.add(room)
      return Buffer.from(room, 0, length)
    },
    takeBack: ({ buffer: room }) => {
      if (!lent.delete(room) || !(room instanceof ArrayBuffer)) return
      const kept = idle.get(room.byteLength) ?? []
      idle.set(room.byteLength, kept)
      if ((kept.length + 1) * room.byteLength <= KEPT_BYTES_MAX) kept.push(room)
    },
  }
}

/** Below this the runtime's own pool and its young generation do well. */
const SIZE_MIN = 16 * 1024
const SIZE_MAX = 1024 * 1024
/** Of each size: 64 bodies of a hundred records. */
const KEPT_BYTES_MAX = 8 * 1024 * 1024

/** The next power of two, so that few sizes serve every page. */
const sizeFor = (length: number): number => 2 ** Math.ceil(Math.log2(length))
