import { lazy, Suspense } from 'react'
import type { Kind, RecordData } from '../../kinds/kind.ts'
import { memberText } from '../../kinds/record-members.ts'

const QrCode = lazy(async () => ({ default: (await import('./qr-code.tsx')).QrCode }))

type SlipProps = {
  readonly title: string
  readonly lines: readonly (readonly [label: string, text: string])[]
  /** What a scanner reads. */
  readonly code: string
}

/** A slip to print: where to send money, with a code that says the same. */
export function Slip({ title, lines, code }: SlipProps) {
  return (
    <section className="slip" aria-label={title}>
      <h2>{title}</h2>
      <dl>
        {lines.map(([label, text]) => (
          <div key={label}>
            <dt>{label}</dt>
            <dd>{text}</dd>
          </div>
        ))}
      </dl>
      <Suspense fallback={null}>
        <QrCode text={code} label={`QR code: ${title.toLowerCase()}`} />
      </Suspense>
    </section>
  )
}

/** The slip of a record that money can be sent to; undefined for the other kinds. */
export function slipOf({ name }: Kind, record: RecordData): SlipProps | undefined {
  if (name === 'deposit-addresses') {
    const address = memberText(record, 'address')
    const lines = [
      ['Network', memberText(record, 'crypto_network')],
      ['Address', address],
      ['Also valid on', listed(record.compatible_crypto_networks)],
    ] as const
    return { title: 'Deposit address', lines, code: address }
  }
  const wire = 'fiat_network_instructions.wire'
  if (memberText(record, `${wire}.account_number`) === '') return undefined
  if (name !== 'fiat-accounts' && name !== 'fiat-deposit-instructions') return undefined
  const owner = 'fiat_account_owner'
  const person = `${owner}.person_details`
  const paths: readonly (readonly [string, string])[] = [
    ['Beneficiary', memberText(record, `${owner}.institution_details.name`)],
    [
      'Beneficiary',
      [memberText(record, `${person}.first_name`), memberText(record, `${person}.last_name`)]
        .join(' ')
        .trim(),
    ],
    ['Account number', memberText(record, `${wire}.account_number`)],
    [
      memberText(record, `${wire}.routing_details.routing_number_type`) || 'Routing number',
      memberText(record, `${wire}.routing_details.routing_number`),
    ],
    ['Bank', memberText(record, `${wire}.routing_details.bank_name`)],
    ['Memo', memberText(record, 'memo_id')],
    ['Reference', memberText(record, 'ref_id')],
  ]
  const lines = paths.filter(([, text]) => text !== '')
  const code = lines.map(([label, text]) => `${label}: ${text}`).join('\n')
  return { title: 'Wire slip', lines, code }
}

const listed = (value: unknown): string => (Array.isArray(value) ? value.join(', ') : '')
