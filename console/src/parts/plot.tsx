import { useState } from 'react'
import { add, grouped, largestOf, subtract, thousandthsOf } from '../values/amounts.ts'
import { monthLetter, monthName } from '../values/times.ts'

/** What was owed and paid of the periods that begin at an instant, in one asset. */
export type Period = {
  readonly period_start: string
  readonly owed: string
  readonly paid: string
  readonly statements: number
}

const [WIDTH, HEIGHT, LEFT, BASE, TOP] = [260, 130, 34, 112, 14]

/**
 * Paid is solid, owed and not paid is hatched. Each bar takes the focus and is named with its exact
 * figures, which also stand below. Only the axis is short.
 */
export function PeriodPlot({ periods, asset }: PlotProps) {
  const [chosen, setChosen] = useState(periods.length - 1)
  const largest = largestOf(periods.flatMap(({ owed, paid }) => [owed, paid]))
  const step = (WIDTH - LEFT) / Math.max(periods.length, 1)
  const width = Math.max(Math.min(step - 4, 26), 2)
  const heightOf = (amount: string) => (thousandthsOf(amount, largest) * (BASE - TOP)) / 1000
  const shown = periods[Math.min(chosen, periods.length - 1)]
  return (
    <>
      {/* biome-ignore lint/a11y/useSemanticElements: a drawing has no fieldset. */}
      <svg
        className="plot"
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        role="group"
        aria-label={`Owed and paid by period, ${asset}`}
      >
        <title>{`Owed and paid by period, ${asset}`}</title>
        <Axis largest={largest} />
        {periods.map((period, at) => {
          const x = LEFT + at * step + (step - width) / 2
          const [owed, paid] = [heightOf(period.owed), heightOf(period.paid)]
          const choose = () => setChosen(at)
          return (
            // biome-ignore lint/a11y/noInteractiveElementToNoninteractiveRole: a bar is an image.
            <g
              key={period.period_start}
              tabIndex={0}
              role="img"
              aria-label={barName(period, asset)}
              onFocus={choose}
              onPointerEnter={choose}
            >
              <rect
                className={at === chosen ? 'pick' : 'clear'}
                x={LEFT + at * step}
                y={TOP - 6}
                width={step}
                height={HEIGHT - TOP + 4}
              />
              {owed > paid && (
                <rect className="short" x={x} y={BASE - owed} width={width} height={owed - paid} />
              )}
              <rect className="paid" x={x} y={BASE - paid} width={width} height={paid} />
              {(periods.length <= 14 || at % 3 === 0) && (
                <text
                  className={at === chosen ? 'now' : ''}
                  x={x + width / 2}
                  y={125}
                  textAnchor="middle"
                >
                  {monthLetter(period.period_start)}
                </text>
              )}
            </g>
          )
        })}
      </svg>
      {shown !== undefined && <Readout period={shown} />}
    </>
  )
}

type PlotProps = {
  /** In the order of time. */
  readonly periods: readonly Period[]
  readonly asset: string
}

const barName = ({ period_start: start, owed, paid, statements }: Period, asset: string): string =>
  `${monthName(start)}: owed ${grouped(owed)}, paid ${grouped(paid)}, not paid ` +
  `${grouped(subtract(owed, paid))} ${asset}, ${statements} statements`

function Readout({ period }: { readonly period: Period }) {
  const { owed, paid, statements, period_start: start } = period
  const missing = subtract(owed, paid)
  const isShort = missing !== '0' && !missing.startsWith('-')
  return (
    <div className="readout" aria-live="polite">
      <h3>
        {monthName(start)}{' '}
        <span className="quiet">
          {statements} {statements === 1 ? 'statement' : 'statements'}
        </span>
      </h3>
      <dl className="facts split">
        <dt>Owed</dt>
        <dd>{grouped(owed)}</dd>
        <dt>Paid</dt>
        <dd>{grouped(paid)}</dd>
        <dt className={isShort ? 'bad strong' : ''}>Not paid</dt>
        <dd className={isShort ? 'bad strong' : ''}>{grouped(missing)}</dd>
      </dl>
    </div>
  )
}

/** Two lines and short figures: the half and the whole of the largest amount. */
function Axis({ largest }: { readonly largest: string }) {
  return (
    <>
      <defs>
        <pattern
          id="hatch"
          width="4"
          height="4"
          patternUnits="userSpaceOnUse"
          patternTransform="rotate(45)"
        >
          <line className="hatch" x1="0" y1="0" x2="0" y2="4" />
        </pattern>
      </defs>
      {[0, 500, 1000].map((share) => {
        const y = BASE - (share * (BASE - TOP)) / 1000
        return (
          // biome-ignore lint/a11y/noAriaHiddenOnFocusable: no line of the axis takes the focus.
          <g key={share} aria-hidden="true">
            <line className={share === 0 ? 'axis' : 'grid'} x1={LEFT} x2={WIDTH} y1={y} y2={y} />
            <text x={LEFT - 5} y={y + 3} textAnchor="end">
              {shortFigure(largest, share)}
            </text>
          </g>
        )
      })}
    </>
  )
}

/** `275k`: for an axis alone. */
function shortFigure(largest: string, share: number): string {
  const whole = (BigInt(largest.split('.')[0] || '0') * BigInt(share)) / 1000n
  if (whole >= 10_000_000n) return `${whole / 1_000_000n}m`
  return whole >= 10_000n ? `${whole / 1000n}k` : whole.toString()
}

/** A line of counts, such as requests a minute, with the newest at the right. */
export function Sparkline({
  values,
  label,
}: {
  readonly values: readonly number[]
  readonly label: string
}) {
  const [width, height] = [340, 48]
  const most = Math.max(1, ...values)
  const points = values
    .map((value, at) => {
      const x = values.length === 1 ? width : (at * width) / (values.length - 1)
      return `${x.toFixed(1)},${(height - 2 - (value * (height - 6)) / most).toFixed(1)}`
    })
    .join(' ')
  return (
    <svg className="plot" viewBox={`0 0 ${width} ${height}`} role="img" aria-label={label}>
      <title>{label}</title>
      <line className="axis" x1="0" x2={width} y1={height - 0.5} y2={height - 0.5} />
      <polyline className="spark-line" points={points} />
    </svg>
  )
}

/** Adds the periods of several statements that begin at the same instant. */
export function sumPeriods(periods: readonly Period[]): readonly Period[] {
  const byStart = Map.groupBy(periods, ({ period_start: start }) => start)
  return [...byStart]
    .map(([start, own]) => ({
      period_start: start,
      owed: own.map(({ owed }) => owed).reduce(add, '0'),
      paid: own.map(({ paid }) => paid).reduce(add, '0'),
      statements: own.reduce((count, { statements }) => count + statements, 0),
    }))
    .sort((one, other) => (one.period_start < other.period_start ? -1 : 1))
}
