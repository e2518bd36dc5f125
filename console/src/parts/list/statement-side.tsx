import { Fragment, useMemo, useState } from 'react'
import { isWide, readRows } from '../../api/list-rows.ts'
import type { ShortfallSum } from '../../api/read-attention.ts'
import type { ListRequest } from '../../api/record-pages.ts'
import { balancesOf } from '../../kinds/balances.ts'
import type { Row } from '../../kinds/kind.ts'
import { linkTo, useRoute, withParameters } from '../../router.ts'
import { useSession } from '../../session/console-session.ts'
import { Amount } from '../../values/amount.tsx'
import { grouped, groupedCount, largestOf, thousandthsOf } from '../../values/amounts.ts'
import { ageText } from '../../values/times.ts'
import { countText, useAttention } from '../attention.tsx'
import { useCustomerName } from '../customer-names.tsx'
import { PeriodPlot, sumPeriods } from '../plot.tsx'
import { useIsSeen } from '../use-is-seen.ts'
import { useLoad } from '../use-load.ts'

/** What a list of shortfalls adds up to, by the server and over all pages. */
export function ShortfallSide({ asset }: { readonly asset: string }) {
  const [attention] = useAttention()
  if (attention.state !== 'loaded') return null
  const sum = attention.value?.shortfalls.find((each) => each.asset === asset)
  if (sum === undefined) return null
  const periods = sum.by_period.toReversed()
  return (
    <aside className="side" aria-label="Totals">
      <Total sum={sum} others={attention.value?.shortfalls.filter((each) => each !== sum) ?? []} />
      {periods.length > 0 && (
        <section className="card" aria-label="By period">
          <header>
            <h2>By period</h2>
            <Legend />
          </header>
          <div className="body">
            <PeriodPlot periods={periods} asset={asset} />
          </div>
        </section>
      )}
      <ByCustomer sum={sum} />
    </aside>
  )
}

/** The answer in one line, above the cards of a phone. */
export function ShortfallLine({ asset }: { readonly asset: string }) {
  const [attention] = useAttention()
  const known = attention.state === 'loaded' ? attention.value : undefined
  const sum = known?.shortfalls.find((each) => each.asset === asset)
  if (sum === undefined) return null
  return (
    <p className="shortfall-line">
      <span className="quiet">
        {countText({ count: sum.statements, more: sum.more })} statements short by
      </span>
      <b className="bad">
        {grouped(sum.shortfall)} {asset}
      </b>
    </p>
  )
}

function Total(props: { readonly sum: ShortfallSum; readonly others: readonly ShortfallSum[] }) {
  const { sum, others } = props
  const { path, query } = useRoute()
  return (
    <section className="card" aria-label="Total">
      <div className="body">
        <h2 className="soft">Total shortfall, {sum.asset}</h2>
        <p className="total-big bad">
          {sum.more && 'at least '}
          <Amount text={sum.shortfall} />
        </p>
        <dl className="facts split">
          <dt>Owed</dt>
          <dd>{grouped(sum.owed)}</dd>
          <dt>Paid</dt>
          <dd>{grouped(sum.paid)}</dd>
          <dt>Statements</dt>
          <dd>{countText({ count: sum.statements, more: sum.more })}</dd>
          <dt>Customers</dt>
          <dd>{sum.customers}</dd>
          <dt>Oldest period ended</dt>
          <dd>{ageText(sum.oldest_period_end, new Date())}</dd>
          {others.map(({ asset, shortfall }) => (
            <Fragment key={asset}>
              <dt>Short in {asset} too</dt>
              <dd>
                <a href={linkTo(path, withParameters(query, { asset, page_cursor: undefined }))}>
                  {grouped(shortfall)}
                </a>
              </dd>
            </Fragment>
          ))}
        </dl>
      </div>
    </section>
  )
}

const Legend = () => (
  <p className="legend" aria-hidden="true">
    <span>
      <svg viewBox="0 0 10 10" aria-hidden="true">
        <rect className="paid" width="10" height="10" />
      </svg>
      Paid
    </span>
    <span>
      <svg viewBox="0 0 10 10" aria-hidden="true">
        <rect className="short" x="0.5" y="0.5" width="9" height="9" />
      </svg>
      Not paid
    </span>
  </p>
)

function ByCustomer({ sum }: { readonly sum: ShortfallSum }) {
  const { path, query } = useRoute()
  const nameOf = useCustomerName()
  const customers = sum.by_customer
  if (customers.length < 2) return null
  const largest = largestOf(customers.map(({ shortfall }) => shortfall))
  return (
    <section className="card" aria-label="By customer">
      <header>
        <h2>By customer</h2>
      </header>
      <div className="body">
        <ul className="by">
          {customers.map(({ customer_id: id, shortfall }) => (
            <li key={id}>
              <a
                href={linkTo(path, withParameters(query, { customer: id, page_cursor: undefined }))}
              >
                {nameOf(id)}
              </a>
              <span>{grouped(shortfall)}</span>
              <svg viewBox="0 0 1000 4" preserveAspectRatio="none" aria-hidden="true">
                <rect width="1000" height="4" />
                <rect className="v" width={thousandthsOf(shortfall, largest)} height="4" />
              </svg>
            </li>
          ))}
        </ul>
      </div>
    </section>
  )
}

/** How many statements the chart of a customer adds up. */
const CHART_ROWS = '1000'

/** What a customer was owed and paid, over all of its statements that match the filters. */
export function CustomerChart(props: { readonly wanted: ListRequest }) {
  const [place, isSeen] = useIsSeen()
  return isSeen ? <Chart {...props} /> : <div className="side" ref={place} />
}

function Chart({ wanted }: { readonly wanted: ListRequest }) {
  const session = useSession()
  const query = withParameters(wanted.query, {
    page_cursor: undefined,
    limit: isWide(session, wanted) ? '100' : CHART_ROWS,
  })
  const [loaded] = useLoad(`chart ${wanted.customerId} ${query}`, (signal) =>
    readRows(session, { ...wanted, query }, { signal }),
  )
  const rows = loaded.state === 'loaded' ? loaded.value.rows : []
  const assets = useMemo(() => assetsOf(rows), [rows])
  const [chosen, setChosen] = useState('')
  const asset = assets.includes(chosen) ? chosen : (assets[0] ?? '')
  if (loaded.state === 'loading') return <div className="side" />
  if (loaded.state !== 'loaded' || asset === '') return null
  const periods = sumPeriods(rows.flatMap((row) => periodsOf(row, asset))).slice(-24)
  return (
    <aside className="side" aria-label="Owed and paid">
      <section className="card" aria-label="By period">
        <header>
          <h2>Owed and paid</h2>
          <Legend />
        </header>
        <div className="body">
          <label className="chip select">
            Asset
            <select value={asset} onChange={(event) => setChosen(event.target.value)}>
              {assets.map((own) => (
                <option key={own}>{own}</option>
              ))}
            </select>
          </label>
          <PeriodPlot key={asset} periods={periods} asset={asset} />
          {loaded.value.next !== undefined && (
            <p className="quiet">Of the newest {groupedCount(rows.length)} statements.</p>
          )}
        </div>
      </section>
    </aside>
  )
}

const periodsOf = ({ record }: Row, asset: string) =>
  balancesOf(record)
    .filter((balance) => balance.asset === asset)
    .map(({ total_amount_owed: owed, amount_paid: paid }) => ({
      period_start: `${String(record.period_start).slice(0, 7)}-01T00:00:00Z`,
      owed,
      paid,
      statements: 1,
    }))

/** The assets of the rows, those with most statements first. */
function assetsOf(rows: readonly Row[]): readonly string[] {
  const all = rows.flatMap(({ record }) => balancesOf(record))
  const byAsset = Map.groupBy(all, ({ asset }) => asset)
  return [...byAsset]
    .sort(([one, a], [other, b]) => b.length - a.length || one.localeCompare(other))
    .map(([asset]) => asset)
}
