import { useCallback, useEffect, useState } from 'react'
import type { RowPage } from '../../api/list-rows.ts'
import { Button } from '../../values/button.tsx'
import { counted } from '../attention.tsx'
import { CopyButton } from '../copy.tsx'
import { isBusy } from '../keys.ts'

const NONE: ReadonlySet<string> = new Set()

/** The ids of the rows that a person has selected with `X`. Another page has none. */
export function useSelection(page: RowPage) {
  const [known, setKnown] = useState({ page, ids: NONE })
  const clear = useCallback(() => setKnown({ page, ids: NONE }), [page])
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (isBusy(event)) return
      if (event.key === 'Escape') clear()
      const id = event.key === 'x' ? rowOf(event.target) : undefined
      if (id === undefined) return
      setKnown((before) => ({ page, ids: toggled(before.page === page ? before.ids : NONE, id) }))
    }
    addEventListener('keydown', press)
    return () => removeEventListener('keydown', press)
  }, [page, clear])
  return [known.page === page ? known.ids : NONE, clear] as const
}

/** The id of the row whose link has the focus. */
const rowOf = (target: EventTarget | null): string | undefined => {
  const link = target instanceof Element ? target.closest('main [data-row]') : null
  return link?.closest<HTMLElement>('[data-id]')?.dataset.id
}

const toggled = (ids: ReadonlySet<string>, id: string): ReadonlySet<string> =>
  ids.has(id) ? new Set([...ids].filter((other) => other !== id)) : new Set([...ids, id])

/** What can be done with the selected rows: nothing here writes. */
export function SelectionBar(props: {
  readonly ids: ReadonlySet<string>
  readonly onClear: () => void
}) {
  const { ids, onClear } = props
  if (ids.size === 0) return null
  return (
    <fieldset className="pager selection" aria-label="Selected rows">
      <span role="status" className="strong">
        {counted(ids.size, 'row')} selected
      </span>
      <CopyButton label="Copy ids" text={[...ids].join('\n')} shortcut="c" />
      <Button className="button" onClick={onClear}>
        Clear <kbd>Esc</kbd>
      </Button>
    </fieldset>
  )
}
