import { type FormEvent, useState } from 'react'
import { Button } from 'react-aria-components'
import type { Kind } from '../../kinds/kind.ts'
import { linkTo, useRoute } from '../../router.ts'
import { useSession } from '../../session/session.ts'
import { PageDialog } from '../dialog.tsx'
import { store, usePreference } from '../preferences.ts'

type View = { readonly name: string; readonly query: string }

type Props = { readonly kind: Kind; readonly query: URLSearchParams }

/** Names for filters and orders. The browser keeps them for this person alone. */
export function SavedViews({ kind, query }: Props) {
  const [isOpen, setOpen] = useState(false)
  const { path } = useRoute()
  const key = `views ${useSession().key} ${kind.name}`
  const views: readonly View[] = JSON.parse(usePreference(key) ?? '[]')
  const keep = (changed: readonly View[]) => store(key, JSON.stringify(changed))
  const save = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const name = String(new FormData(event.currentTarget).get('name')).trim()
    const kept = new URLSearchParams(query)
    // A cursor is of one walk; a view starts at its first page.
    kept.delete('page_cursor')
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
              <a href={linkTo(path, new URLSearchParams(saved))} onClick={() => setOpen(false)}>
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
