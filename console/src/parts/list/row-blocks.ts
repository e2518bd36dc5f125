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
  readonly isAlwaysDrawn: boolean
}

/**
 * A short list is one block, so that the browser's own search finds every row, and so is a list
 * that is printed. Of a long one the first block fills the window, and no other is drawn until it
 * does. `rowPx` is the usual height of a row.
 */
export function useBlocks(rows: readonly Row[], rowPx: number): readonly RowBlock[] {
  const isWhole = useSyncExternalStore(onPrint, () => isPrinting) || rows.length <= DRAWN_MAX
  return useMemo(
    () => (isWhole ? [{ rows, from: 0, isAlwaysDrawn: true }] : blocksOf(rows, rowPx)),
    [rows, rowPx, isWhole],
  )
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

function blocksOf(rows: readonly Row[], rowPx: number): readonly RowBlock[] {
  const size = Math.max(BLOCK_ROWS_MIN, Math.ceil((innerHeight - HEAD_PX) / rowPx))
  return Array.from({ length: Math.ceil(rows.length / size) }, (_, at) => ({
    rows: rows.slice(at * size, (at + 1) * size),
    from: at * size,
    isAlwaysDrawn: false,
  }))
}

type Seen = { readonly isNear: boolean; readonly heightPx: number }

/**
 * Whether a block is drawn, and the height of the gap in its place if it is not. It is drawn in the
 * window and half a window's height around it.
 */
export function useIsDrawn(
  place: RefObject<HTMLElement | null>,
  { rows, from, isAlwaysDrawn }: RowBlock,
  rowPx: number,
): { readonly isDrawn: boolean; readonly gapPx: number } {
  const [{ isNear, heightPx }, see] = useState<Seen>({
    isNear: from === 0,
    heightPx: rows.length * rowPx,
  })
  useEffect(() => {
    const block = place.current
    if (isAlwaysDrawn || block === null) return undefined
    watched.set(block, see)
    observer.observe(block)
    return () => observer.unobserve(block)
  }, [place, isAlwaysDrawn])
  return { isDrawn: isAlwaysDrawn || isNear, gapPx: heightPx }
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
