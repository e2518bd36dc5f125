import { useEffect, useState } from 'react'
import { type Found, find, type Hit } from '../api/find-hits.ts'
import { otherBanksOf } from '../kinds/fiat-networks.ts'
import { kindNamed } from '../kinds/kinds.ts'
import { counted } from '../parts/attention.tsx'
import { useCustomerName } from '../parts/customer-names.tsx'
import { recentHits, rememberHit } from '../parts/frame/recent.ts'
import { PageHeading } from '../parts/heading.tsx'
import { hitLink, hitTitle } from '../parts/hits.ts'
import { focusFirstRow, useRowKeys } from '../parts/rows.ts'
import { SearchBox } from '../parts/search-box.tsx'
import { Failure, Loading, State } from '../parts/states.tsx'
import { useLoad } from '../parts/use-load.ts'
import { linkTo, useRoute } from '../router.ts'
import { type Session, useSession } from '../session/console-session.ts'
import { Button } from '../values/button.tsx'
import { Icon } from '../values/icon.tsx'
import { capital, labelOf, matchText } from '../values/labels.ts'
import { ShownTime } from '../values/shown-time.tsx'
import { Status } from '../values/status.tsx'

/** One box that takes any identifier. Hits are grouped by what matched. */
export function Find() {
  const { query } = useRoute()
  const session = useSession()
  const sought = (query.get('q') ?? '').trim()
  const [found, retry] = useLoad(`find ${sought}`, async (signal) =>
    sought === '' ? undefined : await find(session, sought, signal),
  )
  useRowKeys()
  const opens = query.get('open') === '1'
  useEffect(() => {
    if (found.state !== 'loaded' || found.value === undefined || !opens) return
    openOnly(session, found.value, sought)
  }, [found, opens, session, sought])
  const value = found.state === 'loaded' ? found.value : undefined
  return (
    <section className="find" aria-label="Find">
      <PageHeading title="Find" isHidden />
      <SearchBox text={sought} isFirst {...(value !== undefined && { count: countOf(value) })} />
      <p className="quiet hits" id="find-help">
        {session.isStaff
          ? 'Takes an id, reference, memo or its first six characters, address, customer, words of a bank’s or an owner’s name, or the last four digits of an account number.'
          : 'Takes a complete identifier of one of your records.'}
      </p>
      <div className="find-grid">
        <div>
          {found.state === 'loading' && sought !== '' && <Loading what="hits" />}
          {found.state === 'failed' && (
            <div className="card">
              <Failure error={found.error} retry={retry} />
            </div>
          )}
          {value !== undefined && <Hits key={sought} first={value} text={sought} />}
        </div>
        <Recent />
      </div>
    </section>
  )
}

/** When a further page is given up; the button asks again. */
const NEXT_MS_MAX = 30_000

const countOf = ({ hits, customers, more }: Found): string =>
  [
    ...(customers.length > 0 ? [counted(customers.length, 'customer')] : []),
    ...(hits.length > 0 || customers.length === 0
      ? [`${more ? 'more than ' : ''}${counted(hits.length, 'record')}`]
      : []),
  ].join(', ')

const customerLink = (id: string): string => linkTo([], [['customer', id]])

/** A single hit is opened; of several, the first one gets the focus. */
function openOnly(session: Session, { hits, customers, more }: Found, text: string): void {
  const [only] = hits
  const [customer] = customers
  if (customer !== undefined && customers.length === 1 && hits.length === 0 && !more) {
    location.replace(customerLink(customer.id))
    return
  }
  if (only !== undefined && hits.length === 1 && customers.length === 0 && !more) {
    rememberHit(session, only)
    location.replace(hitLink(only))
    return
  }
  history.replaceState(history.state, '', linkTo(['find'], [['q', text]]))
  setTimeout(focusFirstRow)
}

function Hits({ first, text }: { readonly first: Found; readonly text: string }) {
  const session = useSession()
  const [later, setLater] = useState<readonly Found[]>([])
  const [fault, setFault] = useState<unknown>()
  const { customers } = first
  const hits = [first, ...later].flatMap((page) => page.hits)
  const { more, next } = later.at(-1) ?? first
  const readNext = async () => {
    setFault(undefined)
    try {
      const page = await find(session, text, AbortSignal.timeout(NEXT_MS_MAX), next)
      setLater((pages) => [...pages, page])
    } catch (error) {
      setFault(error)
    }
  }
  if (hits.length + customers.length === 0) {
    return (
      <div className="card">
        <State
          icon="search"
          title={`Nothing has the identifier “${text}”`}
          fine="Full account numbers cannot be searched; their last four digits can."
        >
          An identifier must be complete, and spelt as it is stored. Of a memo, the first six
          characters are enough, and of a customer the start. Other names are found by whole words.
        </State>
      </div>
    )
  }
  return (
    <>
      {customers.length > 0 && (
        <section aria-labelledby="customers">
          <div className="hits">
            <h2 id="customers">
              Customer begins with {text} <span>{counted(customers.length, 'customer')}</span>
            </h2>
            <ul className="card">
              {customers.map(({ id, name = id }) => (
                <li key={id}>
                  <a className="hit" data-row="" href={customerLink(id)}>
                    <Icon name="users" />
                    <span>
                      <span className="strong">
                        <Marked text={name} part={text} />
                      </span>
                      <span className="sub">
                        <Marked text={id} part={text} />
                      </span>
                    </span>
                  </a>
                </li>
              ))}
            </ul>
          </div>
        </section>
      )}
      {[...Map.groupBy(hits, ({ matched }) => matched)].map(([matched, own]) => (
        <HitGroup key={matched} matched={matched} hits={own} text={text} />
      ))}
      {next !== undefined && (
        <Button className="button" onClick={() => void readNext()}>
          Show more hits
        </Button>
      )}
      {fault !== undefined && <Failure error={fault} retry={() => void readNext()} />}
      {more && next === undefined && (
        <p className="quiet hits">There are more hits than these. Filter a list by it.</p>
      )}
      <p className="quiet hits wide-only">
        <kbd>↑</kbd> <kbd>↓</kbd> move <kbd>Enter</kbd> open <kbd>Ctrl</kbd> <kbd>Enter</kbd> new
        tab <kbd>C</kbd> copy id <kbd>/</kbd> back to the box
      </p>
    </>
  )
}

function HitGroup(props: {
  readonly matched: string
  readonly hits: readonly Hit[]
  readonly text: string
}) {
  const { matched, hits, text } = props
  const byKind = [...Map.groupBy(hits, ({ kind }) => kind)].map(([kind, own]) =>
    counted(own.length, kindNamed(kind)?.noun ?? 'fee', kindNamed(kind)?.plural ?? 'fees'),
  )
  return (
    <section aria-labelledby={`group-${matched}`}>
      <div className="hits">
        <h2 id={`group-${matched}`}>
          {matchText(matched)} {text} <span>{byKind.join(', ')}</span>
        </h2>
        <ul className="card">
          {hits.map((hit) => (
            <HitRow key={`${hit.kind} ${hit.id}`} hit={hit} text={text} />
          ))}
        </ul>
      </div>
    </section>
  )
}

function HitRow({ hit, text }: { readonly hit: Hit; readonly text: string }) {
  const session = useSession()
  const nameOf = useCustomerName()
  const kind = kindNamed(hit.kind)
  const card =
    hit.record === undefined
      ? undefined
      : kind?.cardOf({ customerId: hit.customer_id, record: hit.record, shortfall: undefined })
  const sub = [
    capital(kind?.noun ?? 'withdrawal fee'),
    card?.sub ?? '',
    ...(hit.matched === 'bank_name' ? otherBanksOf(hit.record, labelOf) : []),
    nameOf(hit.customer_id),
  ]
  return (
    <li data-id={hit.id}>
      <a className="hit" data-row="" href={hitLink(hit)} onClick={() => rememberHit(session, hit)}>
        <Icon name={kind?.icon ?? 'fee'} />
        <span>
          <span className="strong">
            <Marked text={hitTitle(hit)} part={text} />
          </span>
          <span className="sub">
            <Marked text={sub.filter((part) => part !== '').join(' · ')} part={text} />
          </span>
        </span>
        <span>{card?.status !== undefined && <Status value={card.status} />}</span>
        <ShownTime at={hit.at} />
      </a>
    </li>
  )
}

/** The text with the part that was sought marked. */
function Marked({ text, part }: { readonly text: string; readonly part: string }) {
  const at = text.toLowerCase().indexOf(part.toLowerCase())
  if (at < 0) return text
  return (
    <>
      {text.slice(0, at)}
      <mark>{text.slice(at, at + part.length)}</mark>
      {text.slice(at + part.length)}
    </>
  )
}

function Recent() {
  const session = useSession()
  const hits = recentHits(session)
  if (hits.length === 0) return null
  return (
    <section aria-labelledby="recent">
      <div className="hits">
        <h2 id="recent">
          Recent look-ups <span>kept until this tab is closed</span>
        </h2>
        <ul className="card">
          {hits.map((hit) => (
            <HitRow key={`${hit.kind} ${hit.id}`} hit={hit} text="" />
          ))}
        </ul>
      </div>
    </section>
  )
}
