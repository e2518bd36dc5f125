import { useEffect, useState } from 'react'
import { Amount, decimalsOf } from '../../values/amount.tsx'
import { labelOf } from '../../values/labels.ts'

type Props = {
  readonly amount: string | undefined
  readonly fee: string | undefined
  readonly total: string | undefined
  readonly asset: string
}

/** What arrives, the fee, and what is paid in all: one below the other, by the point. */
export function FeeSum({ asset, ...sums }: Props) {
  const lines = [
    ['amount', 'Arrives', sums.amount],
    ['fee', labelOf('fee'), sums.fee],
    ['total', 'Total with fee', sums.total],
  ] as const
  const places = decimalsOf(lines.flatMap(([, , text]) => text ?? []))
  return (
    <dl className="facts split body sum">
      {lines.map(([member, label, text]) => (
        <div key={member}>
          <dt title={member} data-member={member}>
            {label}
          </dt>
          <dd className={member === 'total' ? 'strong' : ''}>
            <Amount text={text ?? ''} decimals={places} /> <span className="unit">{asset}</span>
          </dd>
        </div>
      ))}
    </dl>
  )
}

/** How long a fee holds, second by second. */
export function TimeLeft({ until }: { readonly until: string }) {
  const [now, setNow] = useState(Date.now())
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1000)
    return () => clearInterval(timer)
  }, [])
  const left = Math.ceil((Date.parse(until) - now) / 1000)
  return (
    <span role="timer" className={left > 0 ? 'ok' : 'bad'}>
      {left > 0 ? `Guaranteed for ${minutesOf(left)} more` : 'Expired; ask again'}
    </span>
  )
}

/** `9:05` of 545 seconds. */
const minutesOf = (seconds: number): string =>
  `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`
