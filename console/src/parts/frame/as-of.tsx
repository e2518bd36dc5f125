import { fromAbsolute, type ZonedDateTime } from '@internationalized/date'
import { useState } from 'react'
import { Button, DateField, DateInput, DateSegment, Label } from 'react-aria-components'
import { go, linkTo, useRoute, withParameters } from '../../router.ts'
import { PageDialog } from '../dialog.tsx'
import { useIsUtc } from '../preferences.ts'
import { printTime } from '../time.tsx'

/** The instant that the screens show; now where none is chosen. */
export const useAsOf = (): string => useRoute().query.get('as_of') ?? ''

/** Chooses the instant: what was stored then is shown instead of what is stored now. */
export function AsOfControl() {
  const { path, query } = useRoute()
  const asOf = useAsOf()
  const isUtc = useIsUtc()
  const [isOpen, setOpen] = useState(false)
  const [at, setAt] = useState<ZonedDateTime | null>(null)
  const show = (instant: string | undefined) => {
    go(linkTo(path, withParameters(query, { as_of: instant, page_cursor: undefined })))
    setOpen(false)
  }
  return (
    <>
      <Button
        className={asOf === '' ? '' : 'past'}
        onPress={() => {
          setAt(null)
          setOpen(true)
        }}
      >
        As of {asOf === '' ? 'now' : printTime(asOf, isUtc)}
      </Button>
      {asOf !== '' && <Button onPress={() => show(undefined)}>Back to now</Button>}
      <PageDialog title="As of" isOpen={isOpen} onClose={() => setOpen(false)}>
        <InstantField label="Time" value={asOf} onChange={setAt} isFirst />
        <p className="hint">Lists and records show what was stored at that time.</p>
        <div className="actions">
          <Button className="primary" isDisabled={at === null} onPress={() => show(instantOf(at))}>
            Show
          </Button>
          <Button onPress={() => show(undefined)}>Show now</Button>
        </div>
      </PageDialog>
    </>
  )
}

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
