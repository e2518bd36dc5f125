import { useEffect, useState } from 'react'
import { go } from '../../router.ts'
import { PageDialog } from '../dialog/dialog.tsx'
import { isBusy } from '../keys.ts'

/** How long the second key of `G S` may take. */
const SECOND_KEY_MS = 1200

/**
 * Every key of the console. A button that has `data-key` is pressed by that key, a link with
 * `data-go` by `G` and that key. Keys are off while a field has the focus or a dialog is open.
 */
export function useShortcuts(onKeys: () => void, onPalette: () => void): void {
  useEffect(() => {
    let goUntil = 0
    const press = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() === 'k' && (event.ctrlKey || event.metaKey)) {
        event.preventDefault()
        onPalette()
        return
      }
      if (isBusy(event)) return
      const run = isSecond(goUntil) ? goTo(event.key) : actionOf(event, onKeys)
      goUntil = event.key === 'g' ? Date.now() + SECOND_KEY_MS : 0
      if (run === undefined) return
      event.preventDefault()
      run()
    }
    addEventListener('keydown', press)
    return () => removeEventListener('keydown', press)
  }, [onKeys, onPalette])
}

const isSecond = (goUntil: number): boolean => Date.now() < goUntil

function goTo(key: string): (() => void) | undefined {
  const link = document.querySelector<HTMLAnchorElement>(`.nav [data-go="${CSS.escape(key)}"]`)
  return link === null ? undefined : () => link.click()
}

function actionOf(event: KeyboardEvent, onKeys: () => void): (() => void) | undefined {
  if (event.key === '?') return onKeys
  if (event.key === '/') return goToFind
  if (/^(ArrowUp|ArrowDown|j|k)$/.test(event.key)) return undefined
  const button = document.querySelector<HTMLElement>(`[data-key="${CSS.escape(event.key)}"]`)
  if (button !== null) return () => button.click()
  return event.key === 'c' ? () => copyId(event.target) : undefined
}

/** Copies the id of the row that has the focus, or else of the record that is shown. */
function copyId(target: EventTarget | null): void {
  const row = target instanceof Element ? target.closest<HTMLElement>('[data-id]') : null
  const shown = row ?? document.querySelector<HTMLElement>('main [data-id]')
  if (shown?.dataset.id !== undefined) void navigator.clipboard.writeText(shown.dataset.id)
}

function goToFind(): void {
  const box = document.getElementById('find')
  if (box === null) go('#/find')
  else box.focus()
}

const keys: readonly (readonly [keys: string, what: string])[] = [
  ['Ctrl K', 'search or jump to'],
  ['/', 'find'],
  ['G then O C A I D S Q F H', 'go to a screen'],
  ['Shift C', 'choose a customer'],
  ['C', 'copy the id of the row or record, or those of the selected rows'],
  ['X', 'select the row'],
  ['↑ ↓ or K J', 'move in a list, or to the record before and after'],
  ['Enter', 'open; with Ctrl in a new tab'],
  ['F', 'add a filter'],
  ['E', 'export the list'],
  ['R', 'refresh'],
  ['T', 'as of another time'],
  ['U', 'UTC or local time'],
  ['V', 'show the account number in full'],
  ['P', 'print'],
  ['.', 'the record as JSON'],
  ['Esc', 'close'],
]

export function useKeyList() {
  const [isOpen, setOpen] = useState(false)
  const dialog = (
    <PageDialog title="Keys" isOpen={isOpen} onClose={() => setOpen(false)}>
      <dl className="facts">
        {keys.map(([names, what]) => (
          <div key={names}>
            <dt>
              <kbd>{names}</kbd>
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
    </PageDialog>
  )
  return [dialog, setOpen] as const
}
