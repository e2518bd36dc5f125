import { isAmount, splitAmount } from './amounts.ts'

type Props = {
  readonly text: string
  /** The digits after the point that the column has at most; the points of a column align. */
  readonly decimals?: number
  readonly isStrong?: boolean
}

/** The stored digits, grouped and aligned by the decimal point. Nothing is rounded. */
export function Amount({ text, decimals, isStrong = false }: Props) {
  if (!isAmount(text)) return <span className="amount">{text === '' ? 'none' : text}</span>
  const { whole, fraction } = splitAmount(text)
  const width = decimals === undefined ? '' : ` f${Math.min(decimals, WIDTHS_MAX)}`
  return (
    <span className={isStrong ? 'amount short' : 'amount'} title={text}>
      {whole}
      {(fraction !== '' || width !== '') && <span className={`frac${width}`}>{fraction}</span>}
    </span>
  )
}

/** The style sheet has a width for so many digits. */
const WIDTHS_MAX = 18

/** How many digits after the point the amounts of a column have at most. */
export const decimalsOf = (amounts: readonly string[]): number =>
  Math.max(0, ...amounts.map((text) => splitAmount(text).fraction.length - 1))
