import { fromAbsolute, type ZonedDateTime } from '@internationalized/date'
import { DateField, DateInput, DateSegment, Label } from 'react-aria-components'
import { useIsUtc } from '../values/preferences.ts'

type FieldProps = {
  readonly label: string
  /** The text of an instant; empty for none. */
  readonly value: string
  readonly onChange: (at: ZonedDateTime | null) => void
  /** Takes the focus when it is shown. */
  readonly isFirst?: boolean
}

/** A date and a time to the second, in the zone that times are shown in. */
export function InstantField({ label, value, onChange, isFirst = false }: FieldProps) {
  const isUtc = useIsUtc()
  const zone = isUtc ? 'UTC' : Intl.DateTimeFormat().resolvedOptions().timeZone
  const millis = Date.parse(value)
  const shown = Number.isNaN(millis) ? null : fromAbsolute(millis, zone)
  return (
    <DateField
      key={`${zone} ${value}`}
      autoFocus={isFirst}
      granularity="second"
      hourCycle={24}
      hideTimeZone
      shouldForceLeadingZeros
      defaultValue={shown}
      placeholderValue={thisSecond(zone)}
      onChange={onChange}
    >
      <Label>
        {label} ({isUtc ? 'UTC' : 'local'})
      </Label>
      <DateInput className="segments">
        {(segment) => <DateSegment segment={segment} className="segment" />}
      </DateInput>
    </DateField>
  )
}

/** The field has no part for milliseconds, so a value must have none either. */
const thisSecond = (zone: string): ZonedDateTime =>
  fromAbsolute(Math.floor(Date.now() / 1000) * 1000, zone)

/** An RFC 3339 text in UTC. */
export const instantOf = (at: ZonedDateTime | null): string | undefined =>
  at?.toAbsoluteString().replace('.000Z', 'Z')
