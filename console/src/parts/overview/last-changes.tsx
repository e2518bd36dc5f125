import type { Change } from '../../api/latest-changes.ts'
import { kindNamed } from '../../kinds/kinds.ts'
import { linkTo } from '../../router.ts'
import { shortId } from '../../values/ids.ts'
import { capital, labelOfPath, wordOf } from '../../values/labels.ts'
import { ShownTime } from '../../values/shown-time.tsx'
import { useCustomerName } from '../customer-names.tsx'
import { useIsNarrow } from '../narrow.ts'
import { State } from '../states.tsx'
import { originText, StatusChange } from '../version-changes.tsx'

function describe({ type, object, record, customer_id: customer }: Change) {
  const kind = kindNamed(object.kind)
  const title =
    kind !== undefined && record !== undefined ? kind.titleOf(record) : shortId(object.id)
  const place: readonly [string, string][] = [['customer', customer]]
  const link =
    kind === undefined
      ? linkTo(['fees'], [['id', object.id], ...place])
      : linkTo(['record', kind.name, object.id], place)
  return { kind, verb: type.split('.')[1] ?? '', title, link }
}

/** The newest changes of the records, each a link to its record. */
export function LastChanges({ changes }: { readonly changes: readonly Change[] }) {
  const nameOf = useCustomerName()
  const isNarrow = useIsNarrow()
  if (changes.length === 0) {
    return (
      <State icon="edit" title="Nothing has changed yet">
        Changes appear here as soon as records are imported or written.
      </State>
    )
  }
  if (isNarrow) {
    return (
      <ul className="rows" aria-label="Last changes">
        {changes.map((change) => {
          const { kind, title, link } = describe(change)
          return (
            <li key={change.id} data-id={change.object.id}>
              <a href={link} data-row="">
                <span className="strong">{title}</span>
                <span className="right quiet">
                  <ShownTime at={change.created_at} />
                </span>
                <span className="sub">
                  {capital(kind?.noun ?? 'withdrawal fee')} · {nameOf(change.customer_id)}
                </span>
                <span className="right">
                  <What change={change} />
                </span>
              </a>
            </li>
          )
        })}
      </ul>
    )
  }
  return (
    <div className="table-wrap">
      <table aria-label="Last changes">
        <thead>
          <tr>
            <th scope="col">Time</th>
            <th scope="col">Record</th>
            <th scope="col">Kind</th>
            <th scope="col">Customer</th>
            <th scope="col">What changed</th>
            <th scope="col">Source</th>
          </tr>
        </thead>
        <tbody>
          {changes.map((change) => {
            const { kind, title, link } = describe(change)
            return (
              <tr key={change.id} data-id={change.object.id}>
                <td className="quiet">
                  <ShownTime at={change.created_at} />
                </td>
                <th scope="row">
                  <a href={link} data-row="">
                    {title}
                  </a>
                </th>
                <td className="soft">{capital(kind?.noun ?? 'withdrawal fee')}</td>
                <td>{nameOf(change.customer_id)}</td>
                <td>
                  <What change={change} />
                </td>
                <td className="quiet">{originText(change.origin)}</td>
              </tr>
            )
          })}
        </tbody>
      </table>
    </div>
  )
}

function What({ change }: { readonly change: Change }) {
  const { verb } = describe(change)
  const changed = (change.changed ?? []).filter((member) => member !== 'updated_at')
  if (verb === 'created') return 'New record'
  if (verb !== 'updated' || changed.length === 0) return wordOf(verb)
  if (change.status_after !== undefined) {
    return <StatusChange from={change.status_before ?? ''} to={change.status_after} />
  }
  const labels = [...new Set(changed.map(labelOfPath))]
  return `${labels.slice(0, 2).join(', ')}${labels.length > 2 ? ` and ${labels.length - 2} more` : ''}`
}
