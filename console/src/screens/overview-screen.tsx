import { useCallback } from 'react'
import { readLatestChanges } from '../api/latest-changes.ts'
import { readCustomers } from '../api/read-customers.ts'
import { kinds } from '../kinds/kinds.ts'
import { useAttention } from '../parts/attention.tsx'
import { useCustomer, useCustomerName } from '../parts/customer-names.tsx'
import { PageHeading } from '../parts/heading.tsx'
import { LastChanges } from '../parts/overview/last-changes.tsx'
import { mattersOf, Todo } from '../parts/overview/todo.tsx'
import { SearchBox } from '../parts/search-box.tsx'
import { ServiceCard } from '../parts/service-card.tsx'
import { useHealth } from '../parts/service-health.ts'
import { Failure, Loading, State } from '../parts/states.tsx'
import { useLoad } from '../parts/use-load.ts'
import { linkTo, placeOf, useRoute } from '../router.ts'
import { type Session, useSession } from '../session/console-session.ts'
import { groupedCount } from '../values/amounts.ts'
import { Button } from '../values/button.tsx'
import { useIsUtc } from '../values/preferences.ts'
import { clockOf, dayName } from '../values/times.ts'

/** The start screen of staff: what waits today, how the service is, what changed last. */
export function Overview() {
  const session = useSession()
  const customerId = useCustomer()
  const nameOf = useCustomerName()
  const isUtc = useIsUtc()
  const now = new Date()
  const [attention, refreshAttention] = useAttention()
  const [health, refreshHealth] = useHealth()
  const [changes, refreshChanges] = useLoad(`latest ${customerId}`, (signal) =>
    readLatestChanges(session, customerId, signal),
  )
  const refresh = useCallback(() => {
    refreshAttention()
    refreshHealth()
    refreshChanges()
  }, [refreshAttention, refreshHealth, refreshChanges])
  const matters =
    attention.state === 'loaded' && attention.value !== undefined
      ? mattersOf(attention.value, health.state === 'loaded' ? health.value : undefined, nameOf)
      : []
  return (
    <section aria-label="Overview">
      <SearchBox text="" isFirst />
      <div className="page-head">
        <PageHeading title={dayName(now, isUtc)} name="Overview" />
        <p>
          {clockOf(now, isUtc)} {isUtc ? 'UTC' : 'local time'}
          {customerId !== '' && ` · ${nameOf(customerId)}`}
        </p>
        <span className="grow" />
        <Button className="button" data-key="r" onClick={refresh}>
          Refresh <kbd>R</kbd>
        </Button>
      </div>
      <div className={session.scopes.has('ingest:read_health') ? 'two' : ''}>
        <section className="card" aria-labelledby="attention">
          <header>
            <h2 id="attention">Needs attention</h2>
            {matters.length > 0 && <p>{matters.length} matters, the most urgent first</p>}
          </header>
          {attention.state === 'loading' && <Loading what="what needs attention" lines={5} />}
          {attention.state === 'failed' && (
            <Failure error={attention.error} retry={refreshAttention} />
          )}
          {attention.state === 'loaded' && matters.length === 0 && (
            <State icon="ok" title="Nothing waits">
              No statement is short, no quote failed since yesterday, and no account is pending.
            </State>
          )}
          <Todo matters={matters} />
        </section>
        {session.scopes.has('ingest:read_health') && <ServiceCard health={health} />}
      </div>
      <Kinds customerId={customerId} />
      <section className="card" aria-labelledby="changes">
        <header>
          <h2 id="changes">Last changes</h2>
          <p>{customerId === '' ? 'All customers' : nameOf(customerId)}</p>
        </header>
        {changes.state === 'loading' && <Loading what="the last changes" />}
        {changes.state === 'failed' && <Failure error={changes.error} retry={refreshChanges} />}
        {changes.state === 'loaded' && <LastChanges changes={changes.value} />}
      </section>
    </section>
  )
}

const CUSTOMER_PAGES_MAX = 10

/** Exact counts that the store keeps, added over the customers. */
async function countKinds(session: Session, customerId: string, signal: AbortSignal) {
  const counts = new Map<string, number>()
  let customers = 0
  let cursor: string | undefined
  for (let page = 0; page < CUSTOMER_PAGES_MAX; page += 1) {
    const query = {
      ...(customerId !== '' && { prefix: customerId }),
      ...(cursor !== undefined && { page_cursor: cursor }),
    }
    const part = await readCustomers(session, query, signal)
    for (const customer of part.customers) {
      if (customerId !== '' && customer.id !== customerId) continue
      customers += 1
      for (const { name } of kinds) {
        counts.set(name, (counts.get(name) ?? 0) + (customer.counts[name] ?? 0))
      }
    }
    cursor = part.next_page_cursor
    if (cursor === undefined) break
  }
  return { customers, counts, more: cursor !== undefined }
}

function Kinds({ customerId }: { readonly customerId: string }) {
  const session = useSession()
  const { query } = useRoute()
  const [loaded] = useLoad(`counts ${customerId}`, (signal) =>
    countKinds(session, customerId, signal),
  )
  if (loaded.state !== 'loaded') return null
  const { customers, counts, more } = loaded.value
  const total = Math.max(
    1,
    [...counts.values()].reduce((sum, count) => sum + count, 0),
  )
  return (
    <section className="card kinds" aria-label="Records by kind">
      <a className="kind" href={linkTo(['customers'])}>
        <span className="label">Customers</span>
        <p className="figure">
          {groupedCount(customers)}
          {more && '+'}
        </p>
        <p className="note">with records</p>
      </a>
      {kinds.map(({ name, title }) => {
        const count = counts.get(name) ?? 0
        return (
          <a key={name} className="kind" href={linkTo(['list', name], placeOf(query))}>
            <span className="label">{title}</span>
            <p className="figure">
              {groupedCount(count)}
              {more && '+'}
            </p>
            <svg viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">
              <rect className="owed" width="100" height="4" />
              <rect className="paid" width={(100 * count) / total} height="4" />
            </svg>
            <p className="note">{shareText(count, total)}</p>
          </a>
        )
      })}
    </section>
  )
}

/** `12% of the records`, which the bar above it shows. */
function shareText(count: number, total: number): string {
  const share = Math.round((100 * count) / total)
  return `${share === 0 && count > 0 ? 'under 1' : share}% of the records`
}
