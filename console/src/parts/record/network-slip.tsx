import { type ReactNode, useId } from 'react'
import {
  type FiatNetwork,
  numberMembers,
  numberOf,
  ownerOf,
  pathOf,
} from '../../kinds/fiat-networks.ts'
import type { RecordData } from '../../kinds/kind.ts'
import { memberAt, memberText } from '../../kinds/record-members.ts'
import { addressLines } from '../../values/addresses.ts'
import { Button } from '../../values/button.tsx'
import { Icon } from '../../values/icon.tsx'
import { inFours, isIban, maskedParts } from '../../values/ids.ts'
import { labelOf } from '../../values/labels.ts'
import { Status } from '../../values/status.tsx'
import { CopyButton } from '../copy.tsx'

const about: Readonly<Record<FiatNetwork, string>> = {
  wire: 'Bank wire',
  rtp: 'Real-time payments, US dollars',
  dbs_act: 'Transfers within DBS, at any hour',
  scb: 'Standard Chartered',
  cubix: 'Transfers within Cubix, at any hour',
  cbit: 'Tokens of Customers Bank',
}

type Props = {
  readonly record: RecordData
  readonly network: FiatNetwork
  /** How the full number is shown or hidden; nothing where it is shown anyway. */
  readonly action: ReactNode
  readonly form: ReactNode
}

/** One network as a bank prints it: the number, the owner, the bank, the bank between. */
export function NetworkSlip({ record, network, action, form }: Props) {
  const id = useId()
  const path = pathOf(network)
  const type = memberText(record, `${path}.routing_details.routing_number_type`)
  const status = memberText(record, `${path}.status`)
  return (
    <section className="card slip" aria-labelledby={id}>
      <header>
        <h2 id={id} title={path} data-member={path}>
          {labelOf(network)}
        </h2>
        <p>
          {network === 'wire' && type === 'SWIFT' ? 'International wire (SWIFT)' : about[network]}
        </p>
        {status !== '' && status !== record.status && <Status value={status} />}
        <CopyButton text={slipText(record, network)} label="Copy all" />
      </header>
      <AccountNumber record={record} network={network} action={action} />
      {form}
      <div className="cols">
        <Party
          title="Owner"
          member="fiat_account_owner, fiat_account_owner_address"
          name={ownerOf(record)}
          address={memberAt(record, `${path}.fiat_account_owner_address`)}
        >
          {isMasked(record, network) && (
            <p className="quiet">
              {action === false
                ? 'The name and the street need the right to see accounts in full.'
                : 'The name and the street are shown with the number.'}
            </p>
          )}
        </Party>
        <Bank title="Bank" record={record} path={`${path}.routing_details`} />
        <Bank
          title="Through (intermediary bank)"
          record={record}
          path={`${path}.intermediary_routing_details`}
        />
      </div>
    </section>
  )
}

/** A list shows of an owner the country alone, whatever else is stored. */
const isMasked = (record: RecordData, network: FiatNetwork): boolean =>
  ownerOf(record) === '' &&
  maskedParts(memberText(record, `${pathOf(network)}.account_number`)).hidden > 0

function AccountNumber({ record, network, action }: Omit<Props, 'form'>) {
  const number = numberOf(record, network)
  const member =
    numberMembers.find((name) => memberText(record, `${pathOf(network)}.${name}`) !== '') ?? ''
  const { hidden, shown } = maskedParts(number)
  const isBank = member === 'account_number'
  const label = network === 'cubix' ? 'Cubix account' : labelOf(member)
  return (
    <div className="number">
      <dl className="grow">
        <dt title={member} data-member={member}>
          {label}
          {isIban(number) && ' (IBAN)'}
        </dt>
        <dd className="digits">
          {hidden > 0 && isBank && (
            <>
              <span className="dots" aria-hidden="true">
                •••• ••
              </span>
              <span className="sr">hidden, ends in</span>{' '}
            </>
          )}
          {hidden > 0 && isBank ? shown : isIban(number) ? inFours(number) : number}
        </dd>
      </dl>
      {(hidden === 0 || !isBank) && number !== '' && (
        <CopyButton text={number} label={`Copy ${label.toLowerCase()}`} isIcon />
      )}
      {isBank && action}
    </div>
  )
}

function Party(props: {
  readonly title: string
  readonly member: string
  readonly name: string
  readonly address: unknown
  readonly children?: ReactNode
}) {
  const lines =
    typeof props.address === 'object' && props.address !== null ? addressLines(props.address) : []
  if (props.name === '' && lines.length === 0 && !props.children) return null
  return (
    <div>
      <h3 title={props.member} data-member={props.member}>
        {props.title}
      </h3>
      <address>
        {props.name !== '' && <b>{props.name}</b>}
        {lines.map((line, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: two lines may be alike.
          <span key={at} className="line">
            {line}
          </span>
        ))}
      </address>
      {props.children}
    </div>
  )
}

function Bank(props: {
  readonly title: string
  readonly record: RecordData
  readonly path: string
}) {
  const { title, record, path } = props
  const number = memberText(record, `${path}.routing_number`)
  const type = memberText(record, `${path}.routing_number_type`)
  const names: Readonly<Record<string, string>> = {
    ABA: 'Routing number (ABA)',
    SWIFT: 'SWIFT code (BIC)',
  }
  const label = names[type] ?? `Routing number${type === '' ? '' : ` (${type})`}`
  return (
    <Party
      title={title}
      member={path}
      name={memberText(record, `${path}.bank_name`)}
      address={memberAt(record, `${path}.bank_address`)}
    >
      {number !== '' && (
        <p
          className="code"
          title="routing_number, routing_number_type"
          data-member="routing_number"
        >
          <span>{label}</span>
          <b className="mono">{number}</b>
          <CopyButton text={number} label={`Copy ${label}`} isIcon />
        </p>
      )}
    </Party>
  )
}

/** What a person pastes into a form of a bank, one line each, in its order. */
export function slipText(record: RecordData, network: FiatNetwork): string {
  const path = pathOf(network)
  const routing = `${path}.routing_details`
  const lines: readonly (readonly [string, string])[] = [
    ['Owner', ownerOf(record)],
    ['Account', numberOf(record, network)],
    [
      memberText(record, `${routing}.routing_number_type`) || 'Routing number',
      memberText(record, `${routing}.routing_number`),
    ],
    ['Bank', memberText(record, `${routing}.bank_name`)],
    ['Memo', memberText(record, 'memo_id')],
    ['Reference', memberText(record, 'ref_id')],
  ]
  return lines
    .filter(([, text]) => text !== '')
    .map(([label, text]) => `${label}: ${text}`)
    .join('\n')
}

/** The button that shows or hides the full number of an account. */
export function NumberButton(props: {
  readonly isShown: boolean
  readonly isFirst: boolean
  readonly onPress: () => void
}) {
  return (
    <Button className="button" {...(props.isFirst && { 'data-key': 'v' })} onClick={props.onPress}>
      <Icon name="eye" />
      {props.isShown ? 'Hide number' : 'Show number'}
      {props.isFirst && <kbd>V</kbd>}
    </Button>
  )
}
