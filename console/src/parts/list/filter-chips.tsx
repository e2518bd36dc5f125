import { useState } from 'react'
import { isWideOnly, wideFilters } from '../../kinds/filters.ts'
import type { Filter, Kind } from '../../kinds/kind.ts'
import type { Changes } from '../../router.ts'
import { useSession } from '../../session/console-session.ts'
import { Button } from '../../values/button.tsx'
import { Icon } from '../../values/icon.tsx'
import { useIsUtc } from '../../values/preferences.ts'
import { statusWord } from '../../values/status.tsx'
import { longTime } from '../../values/times.ts'
import { press } from '../keys.ts'
import { ChipSelect } from './chip-select.tsx'
import { FilterDialog } from './filter-dialog.tsx'

type Props = {
  readonly kind: Kind
  readonly query: URLSearchParams
  readonly customerId: string
  readonly isWide: boolean
  /** The assets that are short, for a list of shortfalls. */
  readonly assets: readonly string[]
  readonly onChange: (changes: Changes) => void
}

/** Every filter that the list may have here. A customer's own list has more of them. */
export function filtersOf(kind: Kind, isStaff: boolean, customerId: string): readonly Filter[] {
  if (!isStaff) return kind.filters
  const wide = wideFilters(kind)
  if (customerId === '') return wide
  // A customer's list may spell the same filter in another way.
  const own = new Set(kind.filters.flatMap(({ name, label }) => [name, label]))
  return [...kind.filters, ...wide.filter(({ name, label }) => !own.has(name) && !own.has(label))]
}

/**
 * Sets filters. The list over all customers and a customer's own list take other ones, so a filter
 * of one replaces those that only the other takes.
 */
function withoutOthers(kind: Kind, query: URLSearchParams, changes: Changes): Changes {
  const given = Object.entries(changes).filter(([, value]) => value !== undefined && value !== '')
  const setsWide = given.some(([name]) => isWideOnly(kind, name))
  const setsOwn = given.some(
    ([name]) =>
      kind.filters.some((filter) => filter.name === name) &&
      !wideFilters(kind).some((filter) => filter.name === name),
  )
  const dropped = [...query.keys()].filter((name) => {
    if (name in changes) return false
    const isWide = isWideOnly(kind, name)
    const isOwn = kind.filters.some((filter) => filter.name === name) && !isShared(kind, name)
    return (setsWide && isOwn) || (setsOwn && isWide)
  })
  return { ...Object.fromEntries(dropped.map((name) => [name, undefined])), ...changes }
}

const isShared = (kind: Kind, name: string): boolean =>
  wideFilters(kind).some((filter) => filter.name === name)

/** The filters of the list as chips: a choice is made in place, the others in a dialog. */
export function FilterChips({ kind, query, customerId, isWide, assets, onChange }: Props) {
  const session = useSession()
  const [isOpen, setOpen] = useState(false)
  const filters = filtersOf(kind, session.isStaff, customerId)
  const change = (changes: Changes) => onChange(withoutOthers(kind, query, changes))
  const choices = filters.filter((filter) => filter.choices !== undefined)
  const given = filters.filter(
    ({ name, choices: own }) => query.has(name) && own === undefined && name !== 'asset',
  )
  return (
    <fieldset className="chips" aria-label="Filters">
      {session.isStaff && session.customerId === undefined && (
        <Button
          className={customerId === '' ? 'chip' : 'chip on'}
          onClick={() => press('[data-key="C"]')}
        >
          Customer <b>{customerId === '' ? 'any' : customerId}</b>
          <Icon name="chev" />
        </Button>
      )}
      {choices.map(({ name, label, choices: values = [] }) => (
        <ChipSelect
          key={name}
          name={name}
          label={label}
          value={query.get(name) ?? ''}
          choices={[['', 'any'], ...values.map((value) => [value, statusWord(value)] as const)]}
          onChange={(value) => change({ [name]: value })}
        />
      ))}
      {query.get('shortfall') === 'true' && (
        <ChipSelect
          name="asset"
          label="Asset"
          value={query.get('asset') ?? ''}
          choices={[...new Set([query.get('asset') ?? '', ...assets])].map((asset) => [
            asset,
            asset,
          ])}
          onChange={(asset) => change({ asset })}
        />
      )}
      {given.map((filter) => (
        <GivenChip
          key={filter.name}
          filter={filter}
          value={query.get(filter.name) ?? ''}
          onEdit={() => setOpen(true)}
          onRemove={() => {
            const rest =
              filter.name === 'shortfall' ? { asset: undefined, order_by: undefined } : {}
            onChange({ [filter.name]: undefined, ...rest })
          }}
        />
      ))}
      <Button className="chip add" data-key="f" onClick={() => setOpen(true)}>
        <Icon name="plus" />
        Filter <kbd>F</kbd>
      </Button>
      <span className="grow" />
      <OrderSelect kind={kind} query={query} isWide={isWide} onChange={change} />
      <FilterDialog
        kind={kind}
        filters={filters}
        query={query}
        isOpen={isOpen}
        onClose={() => setOpen(false)}
        onChange={change}
      />
    </fieldset>
  )
}

function GivenChip(props: {
  readonly filter: Filter
  readonly value: string
  readonly onEdit: () => void
  readonly onRemove: () => void
}) {
  const { filter, value, onEdit, onRemove } = props
  const isUtc = useIsUtc()
  const texts = {
    instant: () => longTime(value, { isUtc, now: new Date() }),
    flag: () => (filter.name === 'shortfall' ? 'more than 0' : 'yes'),
    text: () => value,
  }
  return (
    <span className="chip on" title={`${filter.name}=${value}`}>
      <Button className="chip-part" onClick={onEdit}>
        {filter.label} <b>{texts[filter.type]()}</b>
      </Button>
      <Button
        className="chip-part"
        aria-label={`Remove the filter ${filter.label}`}
        onClick={onRemove}
      >
        <Icon name="x" />
      </Button>
    </span>
  )
}

/** The orders of the server. None of them is of the loaded rows alone. */
function OrderSelect(props: {
  readonly kind: Kind
  readonly query: URLSearchParams
  readonly isWide: boolean
  readonly onChange: (changes: Changes) => void
}) {
  const { kind, query, isWide, onChange } = props
  const isShort = query.get('shortfall') === 'true'
  const period = kind.name === 'statements' ? ' period' : ''
  const orders: readonly (readonly [string, string])[] = [
    ...(isWide && isShort
      ? ([
          ['SHORTFALL DESC', 'Largest shortfall first'],
          ['SHORTFALL ASC', 'Smallest shortfall first'],
        ] as const)
      : []),
    [isShort ? 'PERIOD_START DESC' : ' DESC', `Newest${period} first`],
    [isShort ? 'PERIOD_START ASC' : ' ASC', `Oldest${period} first`],
  ]
  const value = `${query.get('order_by') ?? ''} ${query.get('order') ?? 'DESC'}`
  return (
    <ChipSelect
      name="order"
      label="Order"
      value={value}
      choices={orders}
      onChange={(chosen) => {
        const [orderBy = '', order = ''] = chosen.split(' ')
        onChange({
          order_by: orderBy === '' ? undefined : orderBy,
          order: order === 'DESC' ? undefined : order,
        })
      }}
    />
  )
}
