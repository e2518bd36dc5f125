import { useState } from 'react'
import { go, linkTo, useRoute, withParameters } from '../../router.ts'
import { Button } from '../../values/button.tsx'
import { Icon } from '../../values/icon.tsx'
import { useIsUtc } from '../../values/preferences.ts'
import { dayName, longTime } from '../../values/times.ts'
import { InstantField, PageDialog } from '../dialog/dialog.tsx'

/** The instant that the screens show; now where none is chosen. */
export const useAsOf = (): string => useRoute().query.get('as_of') ?? ''

/** Chooses the instant: what was stored then is shown instead of what is stored now (`T`). */
export function AsOfControl() {
  const { path, query } = useRoute()
  const asOf = useAsOf()
  const isUtc = useIsUtc()
  const [isOpen, setOpen] = useState(false)
  const [at, setAt] = useState<string>()
  const show = (instant: string | undefined) => {
    go(linkTo(path, withParameters(query, { as_of: instant, page_cursor: undefined })))
    setOpen(false)
  }
  const shown = asOf === '' ? 'now' : longTime(asOf, { isUtc, now: new Date() })
  return (
    <>
      <Button
        className={asOf === '' ? 'button plain as-of' : 'button as-of past'}
        data-key="t"
        onClick={() => {
          setAt(undefined)
          setOpen(true)
        }}
      >
        <Icon name="clock" />
        <span>As of {shown}</span>
      </Button>
      {asOf !== '' && (
        <Button className="button" onClick={() => show(undefined)}>
          Back to now
        </Button>
      )}
      <PageDialog title="As of" isOpen={isOpen} onClose={() => setOpen(false)}>
        <p className="soft">Lists and records show what was stored at that time.</p>
        <fieldset className="days">
          <legend>End of</legend>
          {lastDays(isUtc).map((end) => (
            <Button key={end} className="button small" onClick={() => show(end)}>
              {dayName(new Date(Date.parse(end) - 1), isUtc).replace(/ \d{4}$/, '')}
            </Button>
          ))}
        </fieldset>
        <InstantField label="Time" value={asOf} onChange={setAt} isFirst />
        <div className="acts">
          <Button className="button primary" disabled={at === undefined} onClick={() => show(at)}>
            Show
          </Button>
          <Button className="button" onClick={() => show(undefined)}>
            Show now
          </Button>
        </div>
      </PageDialog>
    </>
  )
}

/** The ends of the last seven days, each an instant of the API, the newest first. */
function lastDays(isUtc: boolean): readonly string[] {
  const midnight = new Date()
  if (isUtc) midnight.setUTCHours(0, 0, 0, 0)
  else midnight.setHours(0, 0, 0, 0)
  return Array.from({ length: 7 }, (_, back) => {
    const end = new Date(midnight)
    if (isUtc) end.setUTCDate(end.getUTCDate() - back)
    else end.setDate(end.getDate() - back)
    return end.toISOString().replace('.000Z', 'Z')
  })
}
