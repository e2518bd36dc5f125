import { ApiProblem } from '../api-problem.ts'
import { go, linkTo, useRoute, withParameters } from '../router.ts'
import { Button } from '../values/button.tsx'
import { useIsUtc } from '../values/preferences.ts'
import { dayOf, exactTime } from '../values/times.ts'
import { Failure, State } from './states.tsx'

type Props = { readonly error: unknown; readonly retry: () => void; readonly asOf: string }

/** A failure, or the answer that nobody knows what was stored at an instant. */
export function PastFailure({ error, retry, asOf }: Props) {
  if (!(error instanceof ApiProblem) || error.status !== 410) {
    return <Failure error={error} retry={retry} />
  }
  return <UnknownPast message={error.message} asOf={asOf} />
}

/** Not known is another answer than "did not exist": it has the time since when states are kept. */
function UnknownPast({ message, asOf }: { readonly message: string; readonly asOf: string }) {
  const { path, query } = useRoute()
  const isUtc = useIsUtc()
  const [since] = /\d{4}-\d\d-\d\dT[\d:.]+Z/.exec(message) ?? []
  const show = (at: string | undefined) =>
    go(linkTo(path, withParameters(query, { as_of: at, page_cursor: undefined })))
  return (
    <State
      icon="clock"
      tone="info"
      title={`Not known on ${dayOf(asOf, isUtc)}`}
      acts={
        <>
          {since !== undefined && (
            <Button className="button primary" onClick={() => show(since)}>
              Show the first known state
            </Button>
          )}
          <Button className="button" onClick={() => show(undefined)}>
            Back to now
          </Button>
        </>
      }
      fine="It may have existed. Where it is known that it did not, the console says so."
    >
      {since === undefined
        ? 'Earlier states are unknown.'
        : `Kept since ${exactTime(since, isUtc)}; earlier states are unknown.`}
    </State>
  )
}
