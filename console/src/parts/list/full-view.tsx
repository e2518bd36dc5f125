import { useState } from 'react'
import { maySeeInFull, useSession } from '../../session/console-session.ts'
import { Button } from '../../values/button.tsx'
import { PageDialog } from '../dialog/dialog.tsx'
import { ReasonForm } from '../reveal.tsx'

type Props = {
  readonly query: URLSearchParams
  readonly reason: string | undefined
  readonly onReason: (reason: string) => void
  readonly onChange: (changes: Readonly<Record<string, string | undefined>>) => void
}

/** Shows the list in full, or masked as its customer sees it. */
export function FullView({ query, reason, onReason, onChange }: Props) {
  const session = useSession()
  const [isAsking, setAsking] = useState(false)
  if (!session.isStaff || !maySeeInFull(session)) return null
  const isFull = query.get('view') === 'full'
  const lacksReason = session.isPerson && reason === undefined
  if (isFull && !lacksReason) {
    return (
      <Button className="button" onClick={() => onChange({ view: undefined })}>
        Show as they see it
      </Button>
    )
  }
  return (
    <>
      <Button
        className="button"
        onClick={() => (lacksReason ? setAsking(true) : onChange({ view: 'full' }))}
      >
        Show in full
      </Button>
      <PageDialog title="Show in full" isOpen={isAsking} onClose={() => setAsking(false)}>
        <ReasonForm
          action="Show in full"
          onCancel={() => setAsking(false)}
          onReason={(given) => {
            setAsking(false)
            onReason(given)
            onChange({ view: 'full' })
          }}
        />
      </PageDialog>
    </>
  )
}
