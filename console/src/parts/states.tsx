import { type ReactNode, useEffect, useState } from 'react'
import { ApiProblem, isOffline, messageOf } from '../api-problem.ts'
import { Button } from '../values/button.tsx'
import { Icon, type IconName } from '../values/icon.tsx'
import { useIsUtc } from '../values/preferences.ts'
import { clockOf } from '../values/times.ts'
import { PageHeading } from './heading.tsx'

type StateProps = {
  readonly icon: IconName
  readonly tone?: 'wait' | 'bad' | 'info'
  readonly title: string
  readonly children?: ReactNode
  /** The next step, first the one that helps most. */
  readonly acts?: ReactNode
  readonly fine?: ReactNode
  readonly isAlert?: boolean
}

/** What a screen shows where it has nothing else: what happened, why, and what to do next. */
export function State({ icon, tone, title, children, acts, fine, isAlert = false }: StateProps) {
  return (
    <div className="state" role={isAlert ? 'alert' : 'status'}>
      <span className={tone === undefined ? 'glyph' : `glyph ${tone}`}>
        <Icon name={icon} />
      </span>
      <p className="say">{title}</p>
      {children !== undefined && <div className="why">{children}</div>}
      {acts !== undefined && <div className="acts">{acts}</div>}
      {fine !== undefined && <p className="fine">{fine}</p>}
    </div>
  )
}

/** Bars in the place of what is on its way. They are shown after a moment, so nothing flickers. */
export function Loading({ what, lines = 8 }: { readonly what: string; readonly lines?: number }) {
  return (
    <div className="loading" aria-busy="true">
      <p role="status" className="quiet">
        Loading {what}…
      </p>
      <div aria-hidden="true">
        {Array.from({ length: lines }, (_, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the lines are alike.
          <span key={at} className={`bone w-${[9, 7, 5, 7][at % 4]}`} />
        ))}
      </div>
    </div>
  )
}

/** A screen that is on its way, or is none. It has a heading, as every screen. */
export function BareScreen(props: { readonly title: string; readonly children: ReactNode }) {
  return (
    <section aria-label={props.title}>
      <PageHeading title={props.title} isHidden />
      <div className="card">{props.children}</div>
    </section>
  )
}

/** Says why there is nothing to show under this URL. */
export const NoScreen = ({ children }: { readonly children: ReactNode }) => (
  <BareScreen title="No screen">
    <State
      icon="search"
      title="There is nothing here"
      acts={
        <a className="button primary" href="#/">
          Go to the start
        </a>
      }
    >
      {children}
    </State>
  </BareScreen>
)

const TRY_AGAIN_SECONDS = 10

/** A failure with a way on: a lost connection, a refusal, or a fault of the server. */
export function Failure(props: { readonly error: unknown; readonly retry: () => void }) {
  const { error, retry } = props
  if (isOffline(error)) return <Offline retry={retry} />
  const fine = error instanceof ApiProblem && error.requestId !== undefined && (
    <>
      Request <span className="mono">{error.requestId}</span>
    </>
  )
  const again = (
    <Button className="button primary" onClick={retry}>
      Try again
    </Button>
  )
  if (error instanceof ApiProblem && error.status === 403) {
    return (
      <State icon="lock" tone="bad" title="You may not see this" isAlert fine={fine}>
        {messageOf(error)} Nothing was shown. Your lead can grant the right.
      </State>
    )
  }
  if (error instanceof ApiProblem && error.status === 429) {
    return (
      <State icon="clock" tone="wait" title="Too many requests" acts={again} isAlert fine={fine}>
        {messageOf(error)}
      </State>
    )
  }
  const isFault = !(error instanceof ApiProblem) || error.status >= 500
  return (
    <State
      icon="bad"
      tone="bad"
      title={isFault ? 'The service could not answer' : 'The service cannot answer this request'}
      acts={again}
      isAlert
      fine={fine}
    >
      {messageOf(error)}
    </State>
  )
}

/** Nothing answers. It tries again by itself, and at once when the browser is back. */
function Offline({ retry }: { readonly retry: () => void }) {
  const isUtc = useIsUtc()
  const [left, setLeft] = useState(TRY_AGAIN_SECONDS)
  const [since] = useState(() => new Date())
  useEffect(() => {
    addEventListener('online', retry)
    const timer = setInterval(() => setLeft((seconds) => seconds - 1), 1000)
    return () => {
      removeEventListener('online', retry)
      clearInterval(timer)
    }
  }, [retry])
  useEffect(() => {
    if (left <= 0) retry()
  }, [left, retry])
  return (
    <State
      icon="cut"
      tone="wait"
      title="The server cannot be reached"
      acts={
        <Button className="button primary" onClick={retry}>
          Try now <kbd>R</kbd>
        </Button>
      }
      isAlert
      fine="Exports and full numbers wait until the server answers."
    >
      Not reached since {clockOf(since, isUtc)}. Check the connection.{' '}
      <span aria-hidden="true">The console tries again in {Math.max(left, 0)} seconds.</span>
    </State>
  )
}
