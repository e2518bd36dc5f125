import { useMemo } from 'react'
import { add } from '../../kinds/amounts.ts'
import { balancesOf } from '../../kinds/columns.tsx'
import type { Kind, RecordData } from '../../kinds/kind.ts'
import { BarChart, type Series } from './bar-chart.tsx'

type Drawn = {
  readonly title: string
  readonly labels: readonly string[]
  readonly series: readonly Series[]
}

/** Charts of the loaded rows: statements by asset and period, quote executions by day. */
export function ListCharts(props: {
  readonly kind: Kind
  readonly records: readonly RecordData[]
}) {
  const { kind, records } = props
  const charts = useMemo(() => {
    if (kind.name === 'statements') return statementCharts(records)
    return kind.name === 'issuer-quote-executions' ? [quoteChart(records)] : []
  }, [kind, records])
  if (records.length === 0 || charts.length === 0) return null
  return (
    <details className="charts">
      <summary>
        Chart of the {records.length} loaded {records.length === 1 ? 'row' : 'rows'}
      </summary>
      {charts.map((chart) => (
        <BarChart key={chart.title} {...chart} />
      ))}
    </details>
  )
}

/** Owed beside paid of each period, a chart for each asset. */
function statementCharts(records: readonly RecordData[]): readonly Drawn[] {
  const lines = records.flatMap((record) =>
    balancesOf(record).map((balance) => ({ ...balance, period: dayOf(record.period_start) })),
  )
  return [...Map.groupBy(lines, ({ asset }) => asset)].map(([asset, ofAsset]) => {
    const periods = [...Map.groupBy(ofAsset, ({ period }) => period)].sort(([a], [b]) =>
      a < b ? -1 : 1,
    )
    const sums = (member: 'total_amount_owed' | 'amount_paid') =>
      periods.map(([, own]) => own.map((line) => line[member]).reduce(add, '0'))
    return {
      title: `${asset} by period`,
      labels: periods.map(([period]) => period.slice(0, 7)),
      series: [
        { name: 'owed', values: sums('total_amount_owed') },
        { name: 'paid', values: sums('amount_paid') },
      ],
    }
  })
}

function quoteChart(records: readonly RecordData[]): Drawn {
  const days = [...Map.groupBy(records, ({ created_at: at }) => dayOf(at))].sort(([a], [b]) =>
    a < b ? -1 : 1,
  )
  return {
    title: 'Quote executions by day',
    labels: days.map(([day]) => day),
    series: [{ name: 'executions', values: days.map(([, own]) => String(own.length)) }],
  }
}

const dayOf = (at: unknown): string => String(at).slice(0, 10)
