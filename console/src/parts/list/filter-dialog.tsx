import { type FormEvent, useState } from 'react'
import type { Filter, Kind } from '../../kinds/kind.ts'
import type { Changes } from '../../router.ts'
import { Button } from '../../values/button.tsx'
import { statusWord } from '../../values/status.tsx'
import { InstantField, PageDialog } from '../dialog/dialog.tsx'

type Props = {
  readonly kind: Kind
  readonly filters: readonly Filter[]
  readonly query: URLSearchParams
  readonly isOpen: boolean
  readonly onClose: () => void
  readonly onChange: (changes: Changes) => void
}

/** Every filter of the list. They are in the URL, so a link has them. */
export function FilterDialog({ kind, filters, query, isOpen, onClose, onChange }: Props) {
  const [instants, setInstants] = useState<Changes>({})
  const [hasPart, setPart] = useState(false)
  const shown = filters.filter(({ name }) => name !== 'shortfall' && name !== 'asset')
  const apply = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const isIncomplete = hasPartOfTime(event.currentTarget)
    setPart(isIncomplete)
    if (isIncomplete) return
    const form = new FormData(event.currentTarget)
    const fields = shown
      .filter(({ type }) => type !== 'instant')
      .map(({ name }) => [name, String(form.get(name) ?? '').trim()] as const)
    onChange({ ...Object.fromEntries(fields), ...instants })
    onClose()
  }
  const clear = () => {
    onChange(Object.fromEntries(filters.map(({ name }) => [name, undefined])))
    onClose()
  }
  return (
    <PageDialog title={`Filters of ${kind.title.toLowerCase()}`} isOpen={isOpen} onClose={onClose}>
      <form onSubmit={apply} className="fields">
        {shown.map((filter, at) => (
          <FilterField
            key={filter.name}
            filter={filter}
            isFirst={at === 0}
            value={query.get(filter.name) ?? ''}
            onInstant={(text) => setInstants({ ...instants, [filter.name]: text })}
          />
        ))}
        {hasPart && (
          <p role="alert" className="fault">
            A time has a part that is missing. Fill it in, or clear the others.
          </p>
        )}
        <div className="acts">
          <Button type="submit" className="button primary">
            Apply
          </Button>
          <Button className="button" onClick={clear}>
            Clear
          </Button>
        </div>
      </form>
    </PageDialog>
  )
}

/** A date field without a part has no value, and says nothing of it. */
const hasPartOfTime = (form: HTMLFormElement): boolean =>
  [...form.querySelectorAll('.segments')].some((field) => {
    const missing = field.querySelectorAll('[data-placeholder]').length
    const all = field.querySelectorAll('[role="spinbutton"]').length
    return missing > 0 && missing < all
  })

type FieldProps = {
  readonly filter: Filter
  readonly isFirst: boolean
  readonly value: string
  readonly onInstant: (text: string | undefined) => void
}

function FilterField({ filter, isFirst, value, onInstant }: FieldProps) {
  const { name, label, type, choices } = filter
  if (type === 'instant') {
    return <InstantField label={label} value={value} onChange={onInstant} />
  }
  if (type === 'flag') {
    return (
      <label className="check">
        <input type="checkbox" name={name} value="true" defaultChecked={value === 'true'} /> {label}
      </label>
    )
  }
  return (
    // biome-ignore lint/a11y/noLabelWithoutControl: both branches are a control.
    <label className="field" title={name} data-member={name}>
      {label}
      {choices === undefined ? (
        <input
          name={name}
          defaultValue={value}
          className="input"
          autoComplete="off"
          spellCheck={false}
          // biome-ignore lint/a11y/noAutofocus: the dialog was opened for its fields.
          autoFocus={isFirst}
        />
      ) : (
        <select name={name} defaultValue={value} className="input">
          <option value="">any</option>
          {choices.map((choice) => (
            <option key={choice} value={choice}>
              {statusWord(choice)}
            </option>
          ))}
        </select>
      )}
    </label>
  )
}
