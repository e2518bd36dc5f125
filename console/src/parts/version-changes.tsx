import type { Origin } from '../api/record-pages.ts'
import { balancesOf } from '../kinds/balances.ts'
import type { RecordData } from '../kinds/kind.ts'
import { memberAt, memberText } from '../kinds/record-members.ts'
import { grouped, isAmount } from '../values/amounts.ts'
import type { IconName } from '../values/icon.tsx'
import { labelOf, labelOfPath, wordOf } from '../values/labels.ts'
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
            <Diff member={member} before={before} record={record} />
          )}
        </li>
      ))}
    </ul>
  )
}

function Diff(props: {
  readonly member: string
  readonly before: RecordData
  readonly record: RecordData
}) {
  const { member, before, record } = props
  const isUtc = useIsUtc()
  if (member === 'statement_balances') return <BalanceChanges before={before} record={record} />
  if (member === 'status') {
    return <StatusChange from={memberText(before, member)} to={memberText(record, member)} />
  }
  const shown = (of: RecordData) => valueText(memberAt(of, member), isUtc)
  return <Change from={shown(before)} to={shown(record)} />
}

const Change = ({ from, to }: { readonly from: string; readonly to: string }) => (
  <>
    <del className="from">{from}</del>
    <Arrow />
    <ins>{to}</ins>
  </>
)

const balanceMembers = ['total_amount_owed', 'amount_paid'] as const

/** The figures that differ, by asset: `Paid: 0 → 128,223.281643 USDG`. */
function BalanceChanges({
  before,
  record,
}: {
  readonly before: RecordData
  readonly record: RecordData
}) {
  const [old, own] = [balancesOf(before), balancesOf(record)]
  const assets = [...new Set([...old, ...own].map(({ asset }) => asset))]
  return assets.flatMap((asset) =>
    balanceMembers.map((member) => {
      const [from, to] = [old, own].map((balances) => {
        const text = balances.find((balance) => balance.asset === asset)?.[member]
        return text === undefined ? '(none)' : grouped(text)
      })
      if (from === undefined || to === undefined || from === to) return null
      return (
        <span key={`${asset} ${member}`} className="balance-change">
          {labelOf(member)} <Change from={from} to={to} /> {asset}
        </span>
      )
    }),
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

function valueText(value: unknown, isUtc: boolean): string {
  if (value === undefined || value === null || value === '') return '(none)'
  if (Array.isArray(value))
    return value.map((each) => valueText(each, isUtc)).join(', ') || '(none)'
  if (typeof value === 'object') {
    const parts = Object.entries(value).map(
      ([name, own]) => `${labelOf(name)} ${valueText(own, isUtc)}`,
    )
    return parts.join(', ') || '(none)'
  }
  const text = String(value)
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
