import { useIsUtc } from './preferences.ts'
import { ageText, exactTime, isInstant, longTime, shortTime } from './times.ts'

type Props = {
  readonly at: unknown
  /** `short` in lists, `long` in records, `age` where the distance is what counts. */
  readonly form?: 'short' | 'long' | 'age'
}

/** An instant in UTC or local time; the title has the seconds and the zone. */
export function ShownTime({ at, form = 'short' }: Props) {
  const isUtc = useIsUtc()
  if (typeof at !== 'string' || at === '') return <span className="quiet">none</span>
  if (!isInstant(at)) return <span>{at}</span>
  const now = new Date()
  const text = { short: shortTime, long: longTime }
  return (
    <time dateTime={at} title={exactTime(at, isUtc)}>
      {form === 'age' ? ageText(at, now) : text[form](at, { isUtc, now })}
    </time>
  )
}
