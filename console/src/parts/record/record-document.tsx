import { useState } from 'react'
import { networksOf, numberOf } from '../../kinds/fiat-networks.ts'
import type { Kind, RecordData } from '../../kinds/kind.ts'
import { memberText } from '../../kinds/record-members.ts'
import { maySeeInFull, useSession } from '../../session/console-session.ts'
import { CopyButton } from '../copy.tsx'
import { ReasonForm } from '../reveal.tsx'
import { AddressCard, OwnershipCard, QuoteCard, ScanCard, StatementCard } from './detail-cards.tsx'
import { NetworkSlip, NumberButton, slipText } from './network-slip.tsx'

type Props = {
  readonly kind: Kind
  readonly record: RecordData
  readonly isFull: boolean
  readonly onReveal: (reason: string) => void
  readonly onHide: () => void
}

/** What a record says, as a bank or a ledger prints it. */
export function RecordDocument(props: Props) {
  const { kind, record } = props
  return (
    <>
      {memberText(record, 'memo_id') !== '' && <MemoCard memo={memberText(record, 'memo_id')} />}
      {kind.name === 'statements' && <StatementCard record={record} />}
      {kind.name === 'issuer-quote-executions' && <QuoteCard record={record} />}
      {kind.name === 'deposit-addresses' && (
        <>
          <AddressCard record={record} />
          <ScanCard title="Deposit address" text={memberText(record, 'address')} />
        </>
      )}
      <Slips {...props} />
      <OwnershipCard record={record} />
    </>
  )
}

/** Without its memo a wire reaches nobody, so it comes first. */
function MemoCard({ memo }: { readonly memo: string }) {
  return (
    <section className="card slip" aria-label="Memo">
      <div className="number">
        <dl className="grow">
          <dt title="memo_id" data-member="memo_id">
            Memo, must be in the wire
          </dt>
          <dd className="digits">{memo}</dd>
        </dl>
        <CopyButton text={memo} label="Copy memo" isIcon />
      </div>
    </section>
  )
}

function Slips({ kind, record, isFull, onReveal, onHide }: Props) {
  const session = useSession()
  const [asking, setAsking] = useState<string>()
  const networks = networksOf(record)
  const canReveal = kind.isMasked === true && maySeeInFull(session)
  const press = (network: string) => {
    if (isFull) onHide()
    else if (session.isPerson) setAsking(network)
    else onReveal('')
  }
  const [first] = networks
  // A masked number on a slip would be paid to.
  const hasSlip = first !== undefined && (kind.isMasked !== true || isFull)
  return (
    <>
      {networks.map((network, at) => (
        <NetworkSlip
          key={network}
          record={record}
          network={network}
          action={
            canReveal && (
              <NumberButton isShown={isFull} isFirst={at === 0} onPress={() => press(network)} />
            )
          }
          form={
            asking === network && (
              <ReasonForm
                onCancel={() => setAsking(undefined)}
                onReason={(reason) => {
                  setAsking(undefined)
                  onReveal(reason)
                }}
              />
            )
          }
        />
      ))}
      {hasSlip && numberOf(record, first) !== '' && (
        <ScanCard title="Bank details" text={slipText(record, first)} />
      )}
    </>
  )
}
