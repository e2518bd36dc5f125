import { type RefObject, useEffect, useMemo, useState, useSyncExternalStore } from 'react'
import type { Row } from '../../kinds/kind.ts'

/** Longer lists are drawn in blocks, those that are near the window. */
const DRAWN_MAX = 100
const BLOCK_ROWS_MIN = 20
/** What stands above a list takes at least this. */
const HEAD_PX = 160

/** Rows that are drawn together. */
export type RowBlock = {
  readonly rows: readonly Row[]
  /** The index of the first one in the list. */
  readonly from: number
  /** Only a block that waits is drawn when it comes near the window. */
  readonly drawn: 'always' | 'near' | 'later'
}

/**
 * A short list is one block, so that the browser's own search finds every row, and so is a list
 * that is printed. Of a long one the first block fills the window. The others are one gap until
 * the first one is on the screen. `rowPx` is the usual height of a row.
 */
export function useBlocks(rows: readonly Row[], rowPx: number): readonly RowBlock[] {
  const isWhole = useSyncExternalStore(onPrint, () => isPrinting) || rows.length <= DRAWN_MAX
  const [seen, setSeen] = useState<readonly Row[]>()
  useEffect(() => (isWhole ? undefined : afterPaint(() => setSeen(rows))), [rows, isWhole])
  const isSeen = seen === rows
  return useMemo(() => {
    if (isWhole) return [{ rows, from: 0, drawn: 'always' }]
    const size = Math.max(BLOCK_ROWS_MIN, Math.ceil((innerHeight - HEAD_PX) / rowPx))
    if (isSeen) return blocksOf(rows, size)
    return [
      { rows: rows.slice(0, size), from: 0, drawn: 'always' },
      { rows: rows.slice(size), from: size, drawn: 'later' },
    ]
  }, [rows, rowPx, isWhole, isSeen])
}

/** Runs when a frame is on the screen. Returns what gives it up. */
function afterPaint(run: () => void): () => void {
  let timer: ReturnType<typeof setTimeout>
  const frame = requestAnimationFrame(() => {
    timer = setTimeout(run)
  })
  return () => {
    cancelAnimationFrame(frame)
    clearTimeout(timer)
  }
}

let isPrinting = false

function onPrint(changed: () => void): () => void {
  const note = ({ type }: Event) => {
    isPrinting = type === 'beforeprint'
    changed()
  }
  addEventListener('beforeprint', note)
  addEventListener('afterprint', note)
  return () => {
    removeEventListener('beforeprint', note)
    removeEventListener('afterprint', note)
  }
}

const blocksOf = (rows: readonly Row[], size: number): readonly RowBlock[] =>
  Array.from({ length: Math.ceil(rows.length / size) }, (_, at) => ({
    rows: rows.slice(at * size, (at + 1) * size),
    from: at * size,
    drawn: 'near',
  }))

/** The height is that of the block when it was drawn last. */
type Seen = { readonly isNear: boolean; readonly heightPx: number | undefined }

/**
 * Whether a block is drawn, and the height of the gap in its place if it is not. It is drawn in the
 * window and half a window's height around it.
 */
export function useIsDrawn(
  place: RefObject<HTMLElement | null>,
  { rows, from, drawn }: RowBlock,
  rowPx: number,
): { readonly isDrawn: boolean; readonly gapPx: number } {
  const [{ isNear, heightPx }, see] = useState<Seen>({ isNear: from === 0, heightPx: undefined })
  useEffect(() => {
    const block = place.current
    if (drawn !== 'near' || block === null) return undefined
    watched.set(block, see)
    observer.observe(block)
    return () => observer.unobserve(block)
  }, [place, drawn])
  return {
    isDrawn: drawn === 'always' || (drawn === 'near' && isNear),
    gapPx: heightPx ?? rows.length * rowPx,
  }
}

const watched = new WeakMap<Element, (change: (known: Seen) => Seen) => void>()

/** One for all blocks. Unlike a listener for scrolling it makes the browser lay out nothing. */
const observer = new IntersectionObserver(
  (entries) => {
    for (const { target, isIntersecting, boundingClientRect } of entries) {
      // The focus stays where it is, wherever the page is scrolled to.
      const isNear = isIntersecting || target.contains(document.activeElement)
      watched.get(target)?.((known) => {
        if (known.isNear === isNear) return known
        return { isNear, heightPx: isNear ? known.heightPx : boundingClientRect.height }
      })
    }
  },
  { rootMargin: '50% 0px' },
)
