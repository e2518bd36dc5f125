import { type FormEvent, useState } from 'react'
import { Button } from 'react-aria-components'
import type { Filter, Kind } from '../../kinds/kind.ts'
import { InstantField, instantOf } from '../instant-field.tsx'

type Changes = Readonly<Record<string, string | undefined>>

type Props = {
  readonly kind: Kind
  readonly query: URLSearchParams
  readonly onChange: (changes: Changes) => void
}

/** The filters of the list and its order. They are in the URL, so a link has them. */
export function Filters({ kind, query, onChange }: Props) {
  const [instants, setInstants] = useState<Changes>({})
  const [hasPart, setPart] = useState(false)
  const given = kind.filters.filter(({ name }) => query.has(name)).length
  const apply = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const isIncomplete = hasPartOfTime(event.currentTarget)
    setPart(isIncomplete)
    if (isIncomplete) return
    const form = new FormData(event.currentTarget)
    const fields = kind.filters
      .filter(({ type }) => type !== 'instant')
      .map(({ name }) => [name, String(form.get(name) ?? '').trim()] as const)
    const order = [
      ['order', form.get('order') === 'ASC' ? 'ASC' : ''],
      ['limit', String(form.get('limit') ?? '')],
    ] as const
    onChange({ ...Object.fromEntries([...fields, ...order]), ...instants })
  }
  const clear = () =>
    onChange(Object.fromEntries(kind.filters.map(({ name }) => [name, undefined])))
  return (
    <details className="filters" open={given > 0}>
      <summary>Filters and order{given > 0 && ` (${given})`}</summary>
      <form onSubmit={apply}>
        {kind.filters.map((filter) => (
          <FilterField
            key={filter.name}
            filter={filter}
            value={query.get(filter.name) ?? ''}
            onInstant={(text) => setInstants({ ...instants, [filter.name]: text })}
          />
        ))}
        <label>
          Order
          <select name="order" defaultValue={query.get('order') ?? 'DESC'}>
            <option value="DESC">Newest first</option>
            <option value="ASC">Oldest first</option>
          </select>
        </label>
        <label>
          Rows
          <select name="limit" defaultValue={query.get('limit') ?? ''}>
            <option value="">50</option>
            <option value="20">20</option>
            <option value="100">100</option>
            <option value="1000">1,000</option>
          </select>
        </label>
        {hasPart && (
          <p role="alert" className="fault">
            A time has a part that is missing. Fill it in, or clear the others.
          </p>
        )}
        <div className="actions">
          <Button type="submit" className="primary">
            Apply
          </Button>
          <Button onPress={clear}>Clear</Button>
        </div>
      </form>
    </details>
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
  readonly value: string
  readonly onInstant: (text: string | undefined) => void
}

function FilterField({ filter: { name, label, type, choices }, value, onInstant }: FieldProps) {
  if (type === 'instant') {
    return <InstantField label={label} value={value} onChange={(at) => onInstant(instantOf(at))} />
  }
  if (type === 'flag') {
    return (
      <label className="check">
        <input type="checkbox" name={name} value="true" defaultChecked={value === 'true'} /> {label}
      </label>
    )
  }
  if (choices === undefined) {
    return (
      <label>
        {label}
        <input name={name} defaultValue={value} autoComplete="off" spellCheck={false} />
      </label>
    )
  }
  return (
    <label>
      {label}
      <select name={name} defaultValue={value}>
        <option value="">All</option>
        {choices.map((choice) => (
          <option key={choice} value={choice}>
            {choice.replace(/^STATEMENT_STATUS_/, '')}
          </option>
        ))}
      </select>
    </label>
  )
}
