import { useEffect } from 'react'
import { isBusy } from './keys.ts'

/**
 * The arrows and `K` `J` move between the rows of a list: the elements with `data-row`. Enter and
 * Ctrl Enter are the browser's own, since a row is a link.
 */
export function useRowKeys(): void {
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      const step = steps[event.key]
      if (step === undefined || isBusy(event)) return
      const rows = [...document.querySelectorAll<HTMLElement>('main [data-row]')]
      const focused = document.activeElement
      const at = focused instanceof HTMLElement ? rows.indexOf(focused) : -1
      // Away from a list the arrows scroll the page.
      if (rows.length === 0 || (at < 0 && event.key.startsWith('Arrow'))) return
      event.preventDefault()
      rows[at < 0 ? 0 : Math.min(Math.max(at + step, 0), rows.length - 1)]?.focus()
    }
    addEventListener('keydown', press)
    return () => removeEventListener('keydown', press)
  }, [])
}

const steps: Readonly<Record<string, number>> = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1 }

/** Moves the focus to the first row, such as after a search. */
export const focusFirstRow = (): void =>
  document.querySelector<HTMLElement>('main [data-row]')?.focus()
