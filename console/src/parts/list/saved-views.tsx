import { type FormEvent, useState } from 'react'
import type { Kind } from '../../kinds/kind.ts'
import { useSession } from '../../session/console-session.ts'
import { Button } from '../../values/button.tsx'
import { store, usePreference } from '../../values/preferences.ts'
import { PageDialog } from '../dialog/dialog.tsx'

export type View = { readonly name: string; readonly query: string }

type Props = { readonly kind: Kind; readonly query: URLSearchParams }

/** The views of a kind that the browser keeps for this person alone, and how to change them. */
export function useViews(
  kind: Kind,
): readonly [views: readonly View[], keep: (changed: readonly View[]) => void] {
  const key = `views ${useSession().key} ${kind.name}`
  const views = readViews(usePreference(key))
  return [views, (changed) => store(key, JSON.stringify(changed))]
}

/** Names filters and an order, which become a tab of the list. */
export function SavedViews({ kind, query }: Props) {
  const [isOpen, setOpen] = useState(false)
  const [views, keep] = useViews(kind)
  const save = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const name = String(new FormData(event.currentTarget).get('name')).trim()
    const kept = new URLSearchParams(query)
    // A view is of any customer and time, and starts at its first page.
    for (const own of ['page_cursor', 'customer', 'as_of', 'view']) kept.delete(own)
    keep([...views.filter((view) => view.name !== name), { name, query: kept.toString() }])
    setOpen(false)
  }
  return (
    <>
      <Button className="button wide-only" onClick={() => setOpen(true)}>
        Views{views.length > 0 && ` (${views.length})`}
      </Button>
      <PageDialog title="Saved views" isOpen={isOpen} onClose={() => setOpen(false)}>
        <p className="soft">A view is a tab of this list, for you alone.</p>
        <ul className="views">
          {views.map(({ name }) => (
            <li key={name}>
              <span className="grow">{name}</span>
              <Button
                className="button small"
                aria-label={`Delete ${name}`}
                onClick={() => keep(views.filter((view) => view.name !== name))}
              >
                Delete
              </Button>
            </li>
          ))}
        </ul>
        <form onSubmit={save} className="fields">
          <label className="field">
            Save these filters as
            <input className="input" name="name" required maxLength={60} autoComplete="off" />
          </label>
          <div className="acts">
            <Button type="submit" className="button primary">
              Save
            </Button>
          </div>
        </form>
      </PageDialog>
    </>
  )
}

/** What another program has written under the key is no view. */
function readViews(stored: string | null): readonly View[] {
  try {
    const views: unknown = JSON.parse(stored ?? '[]')
    return Array.isArray(views)
      ? views.filter(({ name, query }) => isText(name) && isText(query))
      : []
  } catch {
    return []
  }
}

const isText = (value: unknown): value is string => typeof value === 'string'
