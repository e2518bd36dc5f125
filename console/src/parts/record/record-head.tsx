import { type ReactNode, useState } from 'react'
import { statementStatus } from '../../kinds/balances.ts'
import type { Kind, RecordData } from '../../kinds/kind.ts'
import { memberText } from '../../kinds/record-members.ts'
import { linkTo, placeOf, useRoute } from '../../router.ts'
import { useSession } from '../../session/console-session.ts'
import { Button } from '../../values/button.tsx'
import { Icon } from '../../values/icon.tsx'
import { capital } from '../../values/labels.ts'
import { ShownTime } from '../../values/shown-time.tsx'
import { Status } from '../../values/status.tsx'
import { CopyButton } from '../copy.tsx'
import { useCustomerName } from '../customer-names.tsx'
import { Fact } from '../facts.tsx'
import { useTrailPlace } from '../trail.ts'
import { JsonDialog } from './json-dialog.tsx'

type Props = {
  readonly kind: Kind
  readonly id: string
  readonly customerId: string
  readonly record: RecordData | undefined
  readonly heading: ReactNode
}

/** The head of a record: what it is called, how it stands, whose it is, since when. */
export function RecordHead({ kind, id, customerId, record, heading }: Props) {
  const { query } = useRoute()
  const session = useSession()
  const nameOf = useCustomerName()
  const place = useTrailPlace(id)
  const [isJson, setJson] = useState(false)
  const status = record === undefined ? undefined : statusOf(kind, record)
  const ref = memberText(record, 'ref_id')
  return (
    <header className="record-head">
      <div className="line">
        {heading}
        {status !== undefined && <Status value={status} />}
        {record !== undefined && isDeleted(record) && <Status value="DELETED" />}
        <span className="grow" />
        {place !== undefined && <Steps {...place} />}
        <Button className="button" data-key="p" onClick={() => print()}>
          <Icon name="print" />
          Print <kbd>P</kbd>
        </Button>
        {record !== undefined && (
          <Button className="button" data-key="." onClick={() => setJson(true)}>
            <Icon name="code" />
            JSON <kbd>.</kbd>
          </Button>
        )}
      </div>
      {record !== undefined && isDeleted(record) && (
        <p className="bad">This {kind.noun} is deleted.</p>
      )}
      <dl className="meta">
        <Fact member="id" label={capital(kind.noun)}>
          <span className="mono long">{id}</span>
          <CopyButton text={id} label="Copy id" isIcon />
        </Fact>
        {ref !== '' && <Fact member="ref_id">{ref}</Fact>}
        <Fact member="customer_id">
          <a href={linkTo(['list', kind.name], placeOf(query))}>
            {session.isStaff ? nameOf(customerId) : `All ${kind.plural}`}
          </a>{' '}
          {nameOf(customerId) !== customerId && <span className="quiet">{customerId}</span>}
        </Fact>
        {['created_at', 'updated_at'].map(
          (name) =>
            memberText(record, name) !== '' && (
              <Fact key={name} member={name}>
                <ShownTime at={memberText(record, name)} form="long" />
              </Fact>
            ),
        )}
      </dl>
      {record !== undefined && (
        <JsonDialog record={record} isOpen={isJson} onClose={() => setJson(false)} />
      )}
    </header>
  )
}

const statusOf = ({ name }: Kind, record: RecordData): string | undefined => {
  if (record.status === undefined) return undefined
  return name === 'statements' ? statementStatus(record) : String(record.status)
}

/** A list marks it; the record in full has the time. */
const isDeleted = ({ is_deleted: isMarked, deleted_at: at }: RecordData): boolean =>
  isMarked === true || typeof at === 'string'

function Steps(place: NonNullable<ReturnType<typeof useTrailPlace>>) {
  const { at, count, list, before, after } = place
  return (
    <nav className="steps" aria-label="Records of the list">
      {before !== undefined && (
        <a href={before} title="The record before (K)">
          <kbd>K</kbd>
          <span className="sr">The record before</span>
        </a>
      )}
      {after !== undefined && (
        <a href={after} title="The record after (J)">
          <kbd>J</kbd>
          <span className="sr">The record after</span>
        </a>
      )}
      <a href={list} className="quiet nowrap" title="Back to the list">
        {at} of {count} on its page
      </a>
    </nav>
  )
}
