import type { Origin } from '../api/record-pages.ts'
import type { RecordData } from '../kinds/kind.ts'
import { memberText } from '../kinds/record-members.ts'
import { grouped, isAmount } from '../values/amounts.ts'
import type { IconName } from '../values/icon.tsx'
import { labelOfPath, wordOf } from '../values/labels.ts'
import { useIsUtc } from '../values/preferences.ts'
import { Status, statusWord } from '../values/status.tsx'
import { isInstant, longTime } from '../values/times.ts'

export type ChangeOf = {
  readonly changed: readonly string[]
  readonly record: RecordData
  readonly before: RecordData | undefined
  readonly isRemoved: boolean
}

/** What a change was, in a few words. */
export function headOf({ changed, record, before, isRemoved }: ChangeOf): string {
  if (isRemoved) return 'Removed'
  if (before === undefined) return 'First version kept'
  if (changed.includes('status')) return statusWord(String(record.status))
  if (changed.includes('deleted_at')) return 'Deleted'
  const [first] = changed.filter((member) => member !== 'updated_at')
  if (first === undefined) return 'Stored again'
  return `${labelOfPath(first)} changed`
}

export const iconOf = ({ changed, before, isRemoved }: ChangeOf): IconName => {
  if (isRemoved) return 'x'
  if (before === undefined) return 'plus'
  return changed.includes('status') ? 'ok' : 'edit'
}

const maskedMembers = /^fiat_(network_instructions|account_owner)/

/** Old values, an arrow, new values: in labels, not in paths. */
export function ChangedMembers(props: ChangeOf & { readonly isMasked: boolean }) {
  const { changed, record, before, isMasked } = props
  if (before === undefined) return null
  const shown = changed.filter((member) => member !== 'updated_at')
  return (
    <ul className="changes">
      {shown.map((member) => (
        <li key={member} className="diff" title={member} data-member={member}>
          {labelOfPath(member)}:{' '}
          {isMasked && maskedMembers.test(member) ? (
            <span className="quiet">changed; show the number, then the history in full</span>
          ) : (
            <Diff
              member={member}
              from={memberText(before, member)}
              to={memberText(record, member)}
            />
          )}
        </li>
      ))}
    </ul>
  )
}

function Diff(props: { readonly member: string; readonly from: string; readonly to: string }) {
  const { member, from, to } = props
  const isUtc = useIsUtc()
  if (member === 'status') return <StatusChange from={from} to={to} />
  return (
    <>
      <del className="from">{valueText(from, isUtc)}</del>
      <Arrow />
      <ins>{valueText(to, isUtc)}</ins>
    </>
  )
}

export const StatusChange = ({ from, to }: { readonly from: string; readonly to: string }) => (
  <>
    <Status value={from} />
    <Arrow />
    <Status value={to} />
  </>
)

const Arrow = () => (
  <span className="arrow">
    <span className="sr">to</span>
    <span aria-hidden="true">→</span>
  </span>
)

function valueText(text: string, isUtc: boolean): string {
  if (text === '') return '(none)'
  if (isInstant(text)) return longTime(text, { isUtc, now: new Date() })
  if (isAmount(text) && text.includes('.')) return grouped(text)
  return /^[A-Z]+(_[A-Z]+)+$/.test(text) ? wordOf(text) : text
}

/** `acme-accounts.ndjson, line 417`, or `Request by core-ledger`. */
export function originText(origin: Origin | undefined): string {
  const { command, client_id: client, file, user, line } = origin ?? {}
  if (command === undefined) return 'Copied when history began'
  if (command === 'take-over') return 'Another record took a value from it'
  if (file === undefined) return client === undefined ? `${command}` : `Request by ${client}`
  return `${file}${line === undefined ? '' : `, line ${line}`}${user === undefined ? '' : `, by ${user}`}`
}
