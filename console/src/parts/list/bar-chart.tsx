import type { CSSProperties } from 'react'
import { compareAmounts, grouped, largestOf } from '../../kinds/amounts.ts'

export type Series = { readonly name: string; readonly values: readonly string[] }

type Props = {
  readonly title: string
  readonly labels: readonly string[]
  readonly series: readonly Series[]
}

const LABELS_MAX = 12

/**
 * Bars beside each other: a table that Charts.css draws, so a screen reader has the exact figures.
 * The style sheet divides them, so no amount becomes a float here.
 */
export function BarChart({ title, labels, series }: Props) {
  const largest = largestOf(series.flatMap(({ values }) => values))
  // More labels would run into each other; the others are there for screen readers.
  const step = Math.ceil(labels.length / LABELS_MAX)
  return (
    <figure className="chart">
      <figcaption>
        {title}, at most {grouped(largest)}
        {series.length > 1 &&
          series.map(({ name }, at) => (
            <span key={name} className={at === 0 ? 'legend first' : 'legend'}>
              <span aria-hidden="true">■</span> {name}
            </span>
          ))}
      </figcaption>
      <table className="charts-css column multiple show-labels show-primary-axis data-spacing-1">
        <caption className="hidden">{title}</caption>
        <thead className="hidden">
          <tr>
            <th scope="col">Period</th>
            {series.map(({ name }) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {labels.map((label, at) => (
            <tr key={label}>
              <th scope="row">
                <span className={at % step === 0 ? '' : 'hidden'}>{label}</span>
              </th>
              {series.map(({ name, values }) => (
                <td key={name} style={sizeOf(values[at] ?? '0', largest)} title={values[at]}>
                  <span className="hidden">{grouped(values[at] ?? '0')}</span>
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </figure>
  )
}

const sizeOf = (value: string, largest: string): CSSProperties => {
  const whole = compareAmounts(largest, '0') === 0 ? '1' : largest
  return { '--size': `calc(${value} / ${whole})` } as CSSProperties
}
