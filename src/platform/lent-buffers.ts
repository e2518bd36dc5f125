/** Reusable buffers: lent, filled, sent, and taken back once the operating system has the bytes. */
export type LentBuffers = {
  /** A buffer of this length with arbitrary content. The borrower must fill every byte. */
  lend(length: number): Buffer
  /** Ignores a buffer that is returned twice. A buffer that is never returned is collected. */
  takeBack(buffer: Buffer): void
}

/** Without reuse, bodies cause full garbage collections (decision 30). */
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

/** Smaller buffers come from the runtime's own pool. */
const SIZE_MIN = 16 * 1024
const SIZE_MAX = 1024 * 1024
/** For each size: 64 bodies of a hundred records. */
const KEPT_BYTES_MAX = 8 * 1024 * 1024

/** The next power of two, so that few sizes serve every page. */
const sizeFor = (length: number): number => 2 ** Math.ceil(Math.log2(length))
