import { useEffect } from 'react'
import { go } from '../../router.ts'

/** Runs for a key without a modifier that was not typed into a field. */
function useKey(key: string, run: (target: HTMLElement) => void): void {
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      const target = event.target as HTMLElement
      const isTyping = /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName) || target.isContentEditable
      if (event.key !== key || isTyping || event.ctrlKey || event.metaKey || event.altKey) return
      event.preventDefault()
      run(target)
    }
    addEventListener('keydown', press)
    return () => removeEventListener('keydown', press)
  }, [key, run])
}

/** `c` copies the id of the selected row, or else of the record that is shown. */
export const useCopyKey = (): void => useKey('c', copyId)

/** `/` goes to the box that finds records. */
export const useFindKey = (): void => useKey('/', goToFind)

function copyId(target: HTMLElement): void {
  const row = target.closest<HTMLElement>('[data-id]') ?? document.querySelector('main [data-id]')
  if (row?.dataset.id !== undefined) void navigator.clipboard.writeText(row.dataset.id)
}

function goToFind(): void {
  const box = document.getElementById('find')
  if (box === null) go('#/')
  else box.focus()
}
