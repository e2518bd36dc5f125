import { lazy, Suspense } from 'react'
import { balancesOf, shortfallOf } from '../../kinds/balances.ts'
import { listOf, periodOf } from '../../kinds/columns.tsx'
import type { RecordData } from '../../kinds/kind.ts'
import { memberAt, memberText } from '../../kinds/record-members.ts'
import { linkTo } from '../../router.ts'
import { Amount, decimalsOf } from '../../values/amount.tsx'
import { shortId } from '../../values/ids.ts'
import { labelOf, wordOf } from '../../values/labels.ts'
import { ShownTime } from '../../values/shown-time.tsx'
import { useAddressVerdict } from '../address-verdict.ts'
import { CopyButton } from '../copy.tsx'
import { Fact } from '../facts.tsx'

const QrCode = lazy(async () => ({ default: (await import('./qr-code.tsx')).QrCode }))

/** A code that a phone reads, of the text that is beside it. */
export function ScanCard({ title, text }: { readonly title: string; readonly text: string }) {
  return (
    <section className="card scan" aria-label={title}>
      <header>
        <h2>{title}</h2>
        <p>Scan it, instead of typing</p>
      </header>
      <div className="body">
        <Suspense fallback={null}>
          <QrCode text={text} label={`QR code: ${title.toLowerCase()}`} />
        </Suspense>
        <pre>{text}</pre>
      </div>
    </section>
  )
}

/** What was owed and paid, by asset, with what is missing. */
export function StatementCard({ record }: { readonly record: RecordData }) {
  const balances = balancesOf(record)
  const places = decimalsOf(
    balances.flatMap((each) => [each.total_amount_owed, each.amount_paid, shortfallOf(each)]),
  )
  return (
    <section className="card slip" aria-labelledby="balances">
      <header>
        <h2 id="balances" title="statement_balances" data-member="statement_balances">
          Balances
        </h2>
        <p>
          {periodOf(record)}, {wordOf(memberText(record, 'type'))},{' '}
          {wordOf(memberText(record, 'product'))}
        </p>
      </header>
      <div className="table-wrap">
        <table aria-label="Balances">
          <thead>
            <tr>
              <th scope="col" title="asset">
                Asset
              </th>
              <th
                scope="col"
                className="num"
                title="total_amount_owed"
                data-member="total_amount_owed"
              >
                Owed
              </th>
              <th scope="col" className="num" title="amount_paid" data-member="amount_paid">
                Paid
              </th>
              <th scope="col" className="num" title="total_amount_owed minus amount_paid">
                Shortfall
              </th>
            </tr>
          </thead>
          <tbody>
            {balances.map((each) => (
              <tr key={each.asset}>
                <th scope="row" className="strong">
                  {each.asset}
                </th>
                <td className="num">
                  <Amount text={each.total_amount_owed} decimals={places} />
                </td>
                <td className="num">
                  <Amount text={each.amount_paid} decimals={places} />
                </td>
                <td className={shortfallOf(each) === '0' ? 'num quiet' : 'num bad'}>
                  <Amount
                    text={shortfallOf(each)}
                    decimals={places}
                    isStrong={shortfallOf(each) !== '0'}
                  />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <dl className="facts body">
        <Fact member="period_start">
          <ShownTime at={record.period_start} form="long" />
        </Fact>
        <Fact member="period_end">
          <ShownTime at={record.period_end} form="long" />
        </Fact>
        <Fact member="generated_at">
          <ShownTime at={record.generated_at} form="long" />
        </Fact>
        <Fact member="paid_at">
          <ShownTime at={record.paid_at} form="long" />
        </Fact>
      </dl>
    </section>
  )
}

const quoteMembers = ['principal', 'fee', 'token_principal', 'token_fee', 'token_price'] as const

/** The amounts of a quote, one below the other, aligned by the point. */
export function QuoteCard({ record }: { readonly record: RecordData }) {
  const amounts = quoteMembers.map((name) => memberText(record, name))
  const places = decimalsOf(amounts.filter((text) => text !== ''))
  return (
    <section className="card" aria-labelledby="amounts">
      <header>
        <h2 id="amounts">Amounts</h2>
        <p>{memberText(record, 'asset_type')}</p>
      </header>
      <dl className="facts split body">
        {quoteMembers.map((name, at) => (
          <Fact key={name} member={name}>
            <Amount text={amounts[at] ?? ''} decimals={places} />
          </Fact>
        ))}
      </dl>
    </section>
  )
}

/** An address to send to: the network first, since a wrong one loses the money. */
export function AddressCard({ record }: { readonly record: RecordData }) {
  const network = memberText(record, 'crypto_network')
  const address = memberText(record, 'address')
  const { isFault, text } = useAddressVerdict(network, address)
  const others = listOf(record, 'compatible_crypto_networks').filter((name) => name !== network)
  const target = memberText(record, 'conversion_target_asset')
  return (
    <section className="card slip" aria-labelledby="address">
      <header>
        <h2 id="address">{wordOf(network)}</h2>
        <p title="compatible_crypto_networks">
          {others.length === 0
            ? 'This network alone'
            : `${labelOf('compatible_crypto_networks')} ${others.map(wordOf).join(', ')}`}
        </p>
      </header>
      <div className="number">
        <dl className="grow">
          <dt title="address" data-member="address">
            Address
          </dt>
          <dd className="digits long">{address}</dd>
        </dl>
        <CopyButton text={address} label="Copy address" isIcon />
      </div>
      <div className="body">
        <p role="status" className={isFault ? 'bad strong' : 'soft'}>
          {text}
        </p>
        <dl className="facts">
          <Fact member="conversion_target_asset">
            {target === 'NO_CONVERSION' || target === '' ? 'no conversion' : target}
          </Fact>
        </dl>
      </div>
    </section>
  )
}

/** Whose the record is, and what the customer has written beside it. */
export function OwnershipCard({ record }: { readonly record: RecordData }) {
  const ids = ['identity_id', 'account_id', 'profile_id'].filter(
    (name) => memberText(record, name) !== '',
  )
  const metadata = memberAt(record, 'metadata')
  const pairs = typeof metadata === 'object' && metadata !== null ? Object.entries(metadata) : []
  if (ids.length + pairs.length === 0) return null
  return (
    <section className="card" aria-labelledby="ownership">
      <header>
        <h2 id="ownership">{ids.length > 0 ? 'Ownership' : labelOf('metadata')}</h2>
      </header>
      <dl className="facts body">
        {ids.map((name) => (
          <Fact key={name} member={name}>
            <a
              className="mono"
              href={linkTo(['find'], [['q', memberText(record, name)]])}
              title={memberText(record, name)}
            >
              {shortId(memberText(record, name))}
            </a>
          </Fact>
        ))}
        {pairs.map(([name, value]) => (
          <Fact key={name} member={`metadata.${name}`} label={name}>
            {String(value)}
          </Fact>
        ))}
      </dl>
    </section>
  )
}
