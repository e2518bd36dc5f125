import { type ReactNode, useEffect } from 'react'
import { Button } from 'react-aria-components'
import { ApiProblem, isOffline, messageOf } from '../api-problem.ts'

/** What a screen shows while it has nothing else. */
export function Loading({ what }: { readonly what: string }) {
  return (
    <p role="status" className="state">
      Loading {what}…
    </p>
  )
}

/** A screen that is on its way, or is none. It has a heading, as every screen. */
export function BareScreen(props: { readonly title: string; readonly children: ReactNode }) {
  return (
    <section aria-label={props.title}>
      <h1 className="hidden">{props.title}</h1>
      {props.children}
    </section>
  )
}

/** Says why there is nothing to show under this URL. */
export const NoScreen = ({ children }: { readonly children: ReactNode }) => (
  <BareScreen title="No screen">
    <Empty>{children}</Empty>
  </BareScreen>
)

export function Empty({ children }: { readonly children: ReactNode }) {
  return (
    <p role="status" className="state">
      {children}
    </p>
  )
}

/** A failure with a way on. A lost connection is tried again when it is back. */
export function Failure({ error, retry }: { readonly error: unknown; readonly retry: () => void }) {
  const offline = isOffline(error)
  useEffect(() => {
    if (!offline) return undefined
    addEventListener('online', retry)
    return () => removeEventListener('online', retry)
  }, [offline, retry])
  const id = error instanceof ApiProblem ? error.requestId : undefined
  // A time before the records are kept. Another attempt has the same answer.
  if (error instanceof ApiProblem && error.status === 410) {
    return <Empty>What was stored at that time is unknown: {error.message}.</Empty>
  }
  return (
    <div role="alert" className="state fault">
      <p>{messageOf(error)}</p>
      {id !== undefined && <p className="hint">Request {id}</p>}
      <Button onPress={retry}>Try again</Button>
    </div>
  )
}
