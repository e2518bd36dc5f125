import { type FormEvent, useState } from 'react'
import { Button } from 'react-aria-components'
import type { Kind } from '../../kinds/kind.ts'
import { linkTo, placeOf, useRoute } from '../../router.ts'
import { useSession } from '../../session/console-session.ts'
import { store, usePreference } from '../../values/preferences.ts'
import { PageDialog } from '../dialog.tsx'

type View = { readonly name: string; readonly query: string }

type Props = { readonly kind: Kind; readonly query: URLSearchParams }

/** Names for filters and orders. The browser keeps them for this person alone. */
export function SavedViews({ kind, query }: Props) {
  const [isOpen, setOpen] = useState(false)
  const { path } = useRoute()
  const key = `views ${useSession().key} ${kind.name}`
  const views: readonly View[] = readViews(usePreference(key))
  const keep = (changed: readonly View[]) => store(key, JSON.stringify(changed))
  const save = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const name = String(new FormData(event.currentTarget).get('name')).trim()
    const kept = new URLSearchParams(query)
    // A view is of any customer and time, and starts at its first page.
    for (const name of ['page_cursor', 'customer', 'as_of', 'view']) kept.delete(name)
    keep([...views.filter((view) => view.name !== name), { name, query: kept.toString() }])
    event.currentTarget.reset()
  }
  return (
    <>
      <Button onPress={() => setOpen(true)}>Views{views.length > 0 && ` (${views.length})`}</Button>
      <PageDialog title="Saved views" isOpen={isOpen} onClose={() => setOpen(false)}>
        {views.length === 0 && <p>No view is saved yet.</p>}
        <ul className="views">
          {views.map(({ name, query: saved }) => (
            <li key={name}>
              <a
                href={linkTo(path, [...new URLSearchParams(saved), ...placeOf(query)])}
                onClick={() => setOpen(false)}
              >
                {name}
              </a>
              <Button
                aria-label={`Delete ${name}`}
                onPress={() => keep(views.filter((view) => view.name !== name))}
              >
                Delete
              </Button>
            </li>
          ))}
        </ul>
        <form onSubmit={save} className="row">
          <label>
            Save these filters as <input name="name" required maxLength={60} autoComplete="off" />
          </label>
          <Button type="submit" className="primary">
            Save
          </Button>
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
