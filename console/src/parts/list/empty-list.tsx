import { readCustomers, similarCustomers } from '../../api/read-customers.ts'
import type { ListRequest } from '../../api/record-pages.ts'
import { type Changes, linkTo, useRoute, withParameters } from '../../router.ts'
import { useSession } from '../../session/console-session.ts'
import { Button } from '../../values/button.tsx'
import { counted } from '../attention.tsx'
import { useCustomerName } from '../customer-names.tsx'
import { Loading, State } from '../states.tsx'
import { useLoad } from '../use-load.ts'
import { filtersOf } from './filter-chips.tsx'

type Props = {
  readonly wanted: ListRequest
  readonly isWide: boolean
  readonly onChange: (changes: Changes) => void
}

/** An empty list says which of three it is: no such customer, no match, or nothing at all. */
export function EmptyList({ wanted, onChange }: Props) {
  const { kind, customerId, query } = wanted
  const session = useSession()
  const nameOf = useCustomerName()
  const [loaded] = useLoad(`exists ${customerId}`, async (signal) => {
    if (!session.isStaff || customerId === '' || session.customerId !== undefined) return []
    const { customers } = await readCustomers(session, { prefix: customerId, limit: '20' }, signal)
    if (customers.some(({ id }) => id === customerId)) return undefined
    return await similarCustomers(session, customerId, signal)
  })
  const given = filtersOf(kind, session.isStaff, customerId).filter(({ name }) => query.has(name))
  if (loaded.state === 'loading') return <Loading what="customers" lines={2} />
  const isKnown = loaded.state === 'failed' || loaded.value === undefined || customerId === ''
  if (!isKnown && session.isStaff && session.customerId === undefined) {
    return <NoCustomer customerId={customerId} similar={loaded.value} />
  }
  const whose = customerId === '' ? 'of any customer' : `of ${nameOf(customerId)}`
  if (given.length === 0) {
    return (
      <State icon={kind.icon} title={`No ${kind.noun} ${whose}`}>
        No record matches. Records appear here as soon as they are imported.
      </State>
    )
  }
  const clear = () =>
    onChange(
      Object.fromEntries([...given.map(({ name }) => [name, undefined]), ['order_by', undefined]]),
    )
  return (
    <State
      icon={kind.icon}
      title={`No ${kind.noun} ${whose} matches`}
      acts={
        <Button className="button primary" onClick={clear}>
          Remove all filters
        </Button>
      }
    >
      No record matches. The filters are: {given.map(({ label }) => label).join(', ')}.
    </State>
  )
}

function NoCustomer(props: {
  readonly customerId: string
  readonly similar: readonly {
    readonly id: string
    readonly name?: string
    readonly counts: Readonly<Record<string, number>>
  }[]
}) {
  const { customerId, similar } = props
  const { path, query } = useRoute()
  const linkOf = (id: string) =>
    linkTo(path, withParameters(query, { customer: id, page_cursor: undefined }))
  const [first] = similar
  return (
    <State
      icon="users"
      title={`No customer “${customerId}”`}
      acts={
        <>
          {first !== undefined && (
            <a className="button primary" href={linkOf(first.id)}>
              Open {first.id}
            </a>
          )}
          <a className="button" href={linkTo(['customers'])}>
            All customers
          </a>
        </>
      }
      fine="Capital and small letters of an id are different."
    >
      {first === undefined ? (
        'No customer has an id or a name that begins like it.'
      ) : (
        <>
          Did you mean{' '}
          {similar.map(({ id, name, counts }, at) => (
            <span key={id}>
              {at > 0 && ', '}
              <a href={linkOf(id)}>{id}</a>
              {` (${name === undefined ? '' : `${name}, `}${counted(counts['fiat-accounts'] ?? 0, 'fiat account')})`}
            </span>
          ))}
          ?
        </>
      )}
    </State>
  )
}
