import { useState } from 'react'
import type { ColumnOf, Kind } from '../../kinds/kind.ts'
import { useSession } from '../../session/console-session.ts'
import { Button } from '../../values/button.tsx'
import { Icon } from '../../values/icon.tsx'
import { store, usePreference } from '../../values/preferences.ts'
import { PageDialog } from '../dialog/dialog.tsx'

const useColumnKey = ({ name }: Kind): string => `columns ${useSession().key} ${name}`

/** The columns that the person has chosen, or those that are shown at first. */
export function useColumns(kind: Kind): readonly ColumnOf[] {
  const names = usePreference(useColumnKey(kind))?.split(' ')
  const chosen = kind.columns.filter(({ name, isExtra }) =>
    names === undefined ? isExtra !== true : names.includes(name),
  )
  return chosen.length === 0 ? kind.columns.slice(0, 1) : chosen
}

export function ColumnChoice({ kind }: { readonly kind: Kind }) {
  const [isOpen, setOpen] = useState(false)
  const key = useColumnKey(kind)
  const shown = useColumns(kind).map(({ name }) => name)
  const toggle = (name: string) => {
    const changed = shown.includes(name)
      ? shown.filter((other) => other !== name)
      : [...shown, name]
    store(key, changed.join(' '))
  }
  return (
    <>
      <Button className="button wide-only" onClick={() => setOpen(true)}>
        <Icon name="sliders" />
        Columns
      </Button>
      <PageDialog title="Columns" isOpen={isOpen} onClose={() => setOpen(false)}>
        <div className="choices">
          {kind.columns.map(({ name, title }) => (
            <label key={name} className="check">
              <input type="checkbox" checked={shown.includes(name)} onChange={() => toggle(name)} />{' '}
              {title}
            </label>
          ))}
        </div>
      </PageDialog>
    </>
  )
}
