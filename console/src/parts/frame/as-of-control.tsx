import type { ZonedDateTime } from '@internationalized/date'
import { useState } from 'react'
import { Button } from 'react-aria-components'
import { go, linkTo, useRoute, withParameters } from '../../router.ts'
import { useIsUtc } from '../../values/preferences.ts'
import { printTime } from '../../values/time.tsx'
import { PageDialog } from '../dialog.tsx'
import { InstantField, instantOf } from '../instant-field.tsx'

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
