import { useEffect, useState } from 'react'
import { findListed, revealRecord } from '../api/record-pages.ts'
import type { Kind, RecordData } from '../kinds/kind.ts'
import { kindNamed } from '../kinds/kinds.ts'
import { memberText } from '../kinds/record-members.ts'
import { useCustomer, useCustomerName } from '../parts/customer-names.tsx'
import { useAsOf } from '../parts/frame/as-of-control.tsx'
import { PageHeading } from '../parts/heading.tsx'
import { PastFailure } from '../parts/past.tsx'
import { RecordDocument } from '../parts/record/record-document.tsx'
import { RecordHead } from '../parts/record/record-head.tsx'
import { Related } from '../parts/record/related.tsx'
import { Timeline } from '../parts/record/timeline.tsx'
import { Loading, NoScreen, State } from '../parts/states.tsx'
import { useTrail } from '../parts/trail.ts'
import { useLoad } from '../parts/use-load.ts'
import { go, linkTo, placeOf, useRoute, withParameters } from '../router.ts'
import { useSession } from '../session/console-session.ts'
import { Button } from '../values/button.tsx'
import { capital } from '../values/labels.ts'
import { useIsUtc } from '../values/preferences.ts'
import { dayOf } from '../values/times.ts'

/** One record as a document: what it says now, what it said before, and what belongs to it. */
export function RecordPage() {
  const { path } = useRoute()
  const [, kindName, id = ''] = path
  const kind = kindNamed(kindName)
  const customerId = useCustomer()
  if (kind === undefined) return <NoScreen>There is no such kind of record.</NoScreen>
  if (customerId === '') {
    return <NoScreen>Find the record first; its customer is not known here.</NoScreen>
  }
  return <OneRecord key={customerId} kind={kind} id={id} customerId={customerId} />
}

type Props = { readonly kind: Kind; readonly id: string; readonly customerId: string }

/** A full number is hidden again after this time, since a screen is left open. */
const SHOWN_MS = 60_000

function OneRecord({ kind, id, customerId }: Props) {
  const session = useSession()
  const asOf = useAsOf()
  const [reason, setReason] = useState<string>()
  const isFull = reason !== undefined
  useTrail(id)
  useEffect(() => {
    if (!isFull) return undefined
    const timer = setTimeout(() => setReason(undefined), SHOWN_MS)
    return () => clearTimeout(timer)
  }, [isFull])
  const key = `${kind.name} ${id} ${customerId} ${asOf} ${isFull} ${reason}`
  const [loaded, retry] = useLoad(key, (signal) =>
    isFull
      ? revealRecord(session, kind, id, { signal, asOf, reason: reason || undefined })
      : findListed(session, { kind, id, customerId }, asOf, signal),
  )
  const record = loaded.state === 'loaded' ? loaded.value : undefined
  const title = record === undefined ? capital(kind.noun) : kind.titleOf(record)
  const name = record === undefined ? title : `${title}, ${kind.noun}`
  return (
    <article data-id={id} aria-label={name} className="record">
      <div className="stack">
        <RecordHead
          kind={kind}
          id={id}
          customerId={customerId}
          record={record}
          heading={<PageHeading title={title} name={name} />}
        />
        {loaded.state === 'loading' && (
          <div className="card">
            <Loading what="the record" />
          </div>
        )}
        {loaded.state === 'failed' && (
          <div className="card">
            <PastFailure error={loaded.error} retry={retry} asOf={asOf} />
          </div>
        )}
        {loaded.state === 'loaded' && loaded.value === undefined && (
          <Missing kind={kind} customerId={customerId} asOf={asOf} />
        )}
        {record !== undefined && (
          <RecordDocument
            kind={kind}
            record={record}
            isFull={isFull}
            onReveal={setReason}
            onHide={() => setReason(undefined)}
          />
        )}
      </div>
      <aside className="side" aria-label="History and related records">
        {session.isStaff && (
          <Timeline kind={kind} id={id} reason={reason} createdAt={createdOf(record)} />
        )}
        {record !== undefined && <Related record={record} />}
      </aside>
    </article>
  )
}

const createdOf = (record: RecordData | undefined): string => memberText(record, 'created_at')

/** Known not to be there: another answer than that nobody knows. */
function Missing(props: {
  readonly kind: Kind
  readonly customerId: string
  readonly asOf: string
}) {
  const { kind, customerId, asOf } = props
  const { path, query } = useRoute()
  const nameOf = useCustomerName()
  const isUtc = useIsUtc()
  const name = nameOf(customerId)
  const back = () => go(linkTo(path, withParameters(query, { as_of: undefined })))
  return (
    <div className="card">
      <State
        icon={kind.icon}
        title={
          asOf === ''
            ? `${name} has no such record`
            : `This ${kind.noun} did not exist on ${dayOf(asOf, isUtc)}`
        }
        acts={
          <>
            {asOf !== '' && (
              <Button className="button primary" onClick={back}>
                Back to now
              </Button>
            )}
            <a className="button" href={linkTo(['list', kind.name], placeOf(query))}>
              All {kind.plural} of {name}
            </a>
          </>
        }
      >
        {asOf === ''
          ? 'It may be another customer’s, or it was withdrawn. Find searches all customers.'
          : `The store knows the ${kind.plural} of ${name} at that time, and it was not among them.`}
      </State>
    </div>
  )
}
