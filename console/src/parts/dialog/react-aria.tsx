import { fromAbsolute, type ZonedDateTime } from '@internationalized/date'
import {
  DateField,
  DateInput,
  DateSegment,
  Dialog,
  Heading,
  Label,
  Modal,
} from 'react-aria-components'
import { Button } from '../../values/button.tsx'
import { Icon } from '../../values/icon.tsx'
import { useIsUtc } from '../../values/preferences.ts'
import type { DialogProps, FieldProps } from './dialog-props.ts'

/** What the console takes from React Aria: a quarter of the script, loaded when it is wanted. */

export function AriaDialog({ title, isOpen, onClose, children, look = 'usual' }: DialogProps) {
  return (
    <Modal
      isOpen={isOpen}
      isDismissable
      className={look === 'bare' ? 'overlay top' : 'overlay'}
      onOpenChange={(open) => {
        if (!open) onClose()
      }}
    >
      {look === 'bare' ? (
        <Dialog className="dialog bare" aria-label={title}>
          {children}
        </Dialog>
      ) : (
        <Dialog className={look === 'wide' ? 'dialog wide' : 'dialog'}>
          <header>
            <Heading slot="title">{title}</Heading>
            <Button aria-label="Close" className="button plain small" onClick={onClose}>
              <Icon name="x" />
            </Button>
          </header>
          <div className="dialog-body">{children}</div>
        </Dialog>
      )}
    </Modal>
  )
}

/** A date and a time to the second, in the zone that times are shown in. */
export function AriaInstantField({ label, value, onChange, isFirst = false }: FieldProps) {
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
      onChange={(at) => onChange(instantOf(at))}
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
const instantOf = (at: ZonedDateTime | null): string | undefined =>
  at?.toAbsoluteString().replace('.000Z', 'Z')
