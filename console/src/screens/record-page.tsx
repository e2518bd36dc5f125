import { useState } from 'react'
import { Button } from 'react-aria-components'
import { findListed, revealRecord } from '../api/record-pages.ts'
import type { Kind, RecordData } from '../kinds/kind.ts'
import { kindNamed } from '../kinds/kinds.ts'
import { memberText } from '../kinds/record-members.ts'
import { CopyButton } from '../parts/copy.tsx'
import { useAsOf } from '../parts/frame/as-of-control.tsx'
import { useCustomer } from '../parts/frame/customer-switch.tsx'
import { useAddressVerdict } from '../parts/record/address-verdict.ts'
import { Members } from '../parts/record/member-list.tsx'
import { ReasonDialog } from '../parts/record/reason-dialog.tsx'
import { RecordHistory } from '../parts/record/record-history.tsx'
import { Slip, slipOf } from '../parts/record/slip.tsx'
import { Empty, Failure, Loading, NoScreen } from '../parts/states.tsx'
import { useLoad } from '../parts/use-load.ts'
import { linkTo, placeOf, useRoute } from '../router.ts'
import { maySeeInFull, useSession } from '../session/console-session.ts'
import { Status } from '../values/status.tsx'

/** One record: as its customer's list shows it, in full on request, and what it was before. */
export function RecordPage() {
  const { path } = useRoute()
  const [, kindName, id = ''] = path
  const kind = kindNamed(kindName)
  const customerId = useCustomer()
  if (kind === undefined) return <NoScreen>There is no such kind of record.</NoScreen>
  if (customerId === '')
    return <NoScreen>Find the record first; its customer is not known here.</NoScreen>
  return <OneRecord key={customerId} kind={kind} id={id} customerId={customerId} />
}

type Props = { readonly kind: Kind; readonly id: string; readonly customerId: string }

function OneRecord({ kind, id, customerId }: Props) {
  const session = useSession()
  const asOf = useAsOf()
  const { query } = useRoute()
  const [reason, setReason] = useState<string>()
  const isFull = reason !== undefined
  const [loaded, retry] = useLoad(
    `${kind.name} ${id} ${customerId} ${asOf} ${isFull} ${reason}`,
    (signal) =>
      isFull
        ? revealRecord(session, kind, id, { signal, asOf, reason: reason || undefined })
        : findListed(session, { kind, id, customerId }, asOf, signal),
  )
  return (
    <article data-id={id} aria-label={kind.noun}>
      <header className="record">
        <h1>{kind.noun}</h1>
        <code>{id}</code>
        <CopyButton text={id} label="Copy id" />
        <a href={linkTo(['list', kind.name], placeOf(query))}>
          All {kind.title.toLowerCase()} of {customerId}
        </a>
      </header>
      {loaded.state === 'loading' && <Loading what="the record" />}
      {loaded.state === 'failed' && <Failure error={loaded.error} retry={retry} />}
      {loaded.state === 'loaded' && loaded.value === undefined && (
        <Empty>
          {customerId} has no such record{asOf !== '' && ' at that time'}.
        </Empty>
      )}
      {loaded.state === 'loaded' && loaded.value !== undefined && (
        <Shown
          kind={kind}
          isFull={isFull}
          record={loaded.value}
          onReveal={setReason}
          onHide={() => setReason(undefined)}
        />
      )}
      {session.isStaff && <RecordHistory kind={kind} id={id} reason={reason} />}
    </article>
  )
}

type ShownProps = {
  readonly kind: Kind
  readonly record: RecordData
  readonly isFull: boolean
  readonly onReveal: (reason: string) => void
  readonly onHide: () => void
}

function Shown({ kind, record, isFull, onReveal, onHide }: ShownProps) {
  const session = useSession()
  const [isAsking, setAsking] = useState(false)
  // A masked number on a slip would be paid to.
  const slip = kind.isMasked === true && !isFull ? undefined : slipOf(kind, record)
  const canReveal = kind.isMasked === true && maySeeInFull(session)
  const reveal = () => (session.isPerson ? setAsking(true) : onReveal(''))
  return (
    <>
      <section className="card" aria-label="Summary">
        {record.status !== undefined && <Status value={record.status} />}
        {isDeleted(record) && <p className="fault">▲ This {kind.noun} is deleted.</p>}
        {kind.name === 'deposit-addresses' && <AddressVerdict record={record} />}
        <div className="actions">
          {canReveal && !isFull && <Button onPress={reveal}>Show full account number</Button>}
          {canReveal && isFull && <Button onPress={onHide}>Hide account number</Button>}
          {slip !== undefined && <Button onPress={() => print()}>Print slip</Button>}
        </div>
        <Members record={record} />
      </section>
      {slip !== undefined && <Slip {...slip} />}
      <ReasonDialog isOpen={isAsking} onClose={() => setAsking(false)} onReason={onReveal} />
    </>
  )
}

/** A list marks it; the record in full has the time. */
const isDeleted = ({ is_deleted: isMarked, deleted_at: at }: RecordData): boolean =>
  isMarked === true || typeof at === 'string'

/** Whether the address is one of its network, by the rules that withdrawals are checked with. */
function AddressVerdict({ record }: { readonly record: RecordData }) {
  const [network, address] = [memberText(record, 'crypto_network'), memberText(record, 'address')]
  const { isFault, text } = useAddressVerdict(network, address)
  return (
    <p role="status" className={isFault ? 'fault' : 'hint'}>
      {text}
    </p>
  )
}
