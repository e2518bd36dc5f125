import { useState } from 'react'
import { type Customer, readCustomers } from '../api/read-customers.ts'
import { kinds } from '../kinds/kinds.ts'
import { PageHeading } from '../parts/heading.tsx'
import { useIsNarrow } from '../parts/narrow.ts'
import { useRowKeys } from '../parts/rows.ts'
import { Failure, Loading, State } from '../parts/states.tsx'
import { useLoad } from '../parts/use-load.ts'
import { go, linkTo, useRoute, withParameters } from '../router.ts'
import { useSession } from '../session/console-session.ts'
import { groupedCount } from '../values/amounts.ts'
import { Button } from '../values/button.tsx'
import { Icon } from '../values/icon.tsx'
import { ShownTime } from '../values/shown-time.tsx'

/** Every customer with what the store keeps of it, in the order of the ids. */
export function Customers() {
  const session = useSession()
  const { path, query } = useRoute()
  const isNarrow = useIsNarrow()
  const [text, setText] = useState(query.get('prefix') ?? '')
  const prefix = query.get('prefix') ?? ''
  const cursor = query.get('page_cursor') ?? ''
  useRowKeys()
  const [loaded, retry] = useLoad(`customers ${prefix} ${cursor}`, (signal) =>
    readCustomers(
      session,
      { ...(prefix && { prefix }), ...(cursor && { page_cursor: cursor }) },
      signal,
    ),
  )
  const change = (changes: Readonly<Record<string, string | undefined>>) =>
    go(linkTo(path, withParameters(query, changes)))
  return (
    <section aria-label="Customers">
      <div className="page-head">
        <PageHeading title="Customers" />
        <p>Records that are neither deleted nor withdrawn</p>
      </div>
      <search>
        <form
          className="find-box small"
          onSubmit={(event) => {
            event.preventDefault()
            change({ prefix: text.trim(), page_cursor: undefined })
          }}
        >
          <Icon name="search" />
          <input
            type="search"
            aria-label="Start of an id or of a word of a name"
            placeholder="Start of an id or of a word of a name, then Enter"
            value={text}
            autoComplete="off"
            spellCheck={false}
            onChange={(event) => setText(event.target.value)}
          />
        </form>
      </search>
      <div className="card">
        {loaded.state === 'loading' && <Loading what="customers" />}
        {loaded.state === 'failed' && <Failure error={loaded.error} retry={retry} />}
        {loaded.state === 'loaded' && loaded.value.customers.length === 0 && (
          <State
            icon="users"
            title={prefix === '' ? 'No customer yet' : `No customer begins with “${prefix}”`}
            acts={
              prefix !== '' && (
                <Button className="button primary" onClick={() => change({ prefix: undefined })}>
                  All customers
                </Button>
              )
            }
          >
            A customer appears here with its first record.
          </State>
        )}
        {loaded.state === 'loaded' &&
          loaded.value.customers.length > 0 &&
          (isNarrow ? (
            <CustomerCards customers={loaded.value.customers} />
          ) : (
            <CustomerTable customers={loaded.value.customers} />
          ))}
        {loaded.state === 'loaded' && (
          <div className="pager">
            <span role="status">{loaded.value.customers.length} customers on this page</span>
            <span className="grow" />
            <Button
              className="button small"
              disabled={cursor === ''}
              onClick={() => change({ page_cursor: undefined })}
            >
              First page
            </Button>
            <Button
              className="button small"
              disabled={loaded.value.next_page_cursor === undefined}
              onClick={() =>
                change({
                  page_cursor:
                    loaded.state === 'loaded' ? loaded.value.next_page_cursor : undefined,
                })
              }
            >
              Next page
            </Button>
          </div>
        )}
      </div>
    </section>
  )
}

const linkOf = (id: string, kind = 'statements'): string =>
  linkTo(['list', kind], [['customer', id]])

function CustomerTable({ customers }: { readonly customers: readonly Customer[] }) {
  return (
    <div className="table-wrap">
      <table aria-label="Customers">
        <thead>
          <tr>
            <th scope="col">Customer</th>
            <th scope="col" title="id">
              Id
            </th>
            {kinds.map(({ name, title }) => (
              <th key={name} scope="col" className="num" title={`counts.${name}`}>
                {title}
              </th>
            ))}
            <th scope="col" title="changed_at">
              Last change
            </th>
          </tr>
        </thead>
        <tbody>
          {customers.map(({ id, name = id, counts, changed_at: at }) => (
            <tr key={id} data-id={id}>
              <th scope="row">
                <a href={linkTo([], [['customer', id]])} data-row="">
                  {name}
                </a>
              </th>
              <td className="mono quiet">{id}</td>
              {kinds.map(({ name: kind, title }) => (
                <td key={kind} className="num">
                  <a
                    href={linkOf(id, kind)}
                    aria-label={`${title} of ${name}: ${counts[kind] ?? 0}`}
                  >
                    {groupedCount(counts[kind] ?? 0)}
                  </a>
                </td>
              ))}
              <td className="quiet">
                <ShownTime at={at} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function CustomerCards({ customers }: { readonly customers: readonly Customer[] }) {
  return (
    <ul className="rows" aria-label="Customers">
      {customers.map(({ id, name = id, counts, changed_at: at }) => (
        <li key={id} data-id={id}>
          <a href={linkTo([], [['customer', id]])} data-row="">
            <span className="strong">{name}</span>
            <span className="right quiet">
              <ShownTime at={at} />
            </span>
            <span className="sub">{id}</span>
            <span className="right sub">
              {groupedCount(Object.values(counts).reduce((sum, count) => sum + count, 0))} records
            </span>
          </a>
        </li>
      ))}
    </ul>
  )
}
