import { useState } from 'react'
import { maySeeInFull, useSession } from '../../session/console-session.ts'
import { Button } from '../../values/button.tsx'
import { PageDialog } from '../dialog/dialog.tsx'
import { ReasonForm } from '../reveal.tsx'

type Props = {
  readonly isFull: boolean
  readonly onFull: (reason: string | undefined) => void
  readonly onMasked: () => void
}

/** Shows the list in full, or masked as its customer sees it. */
export function FullView({ isFull, onFull, onMasked }: Props) {
  const session = useSession()
  const [isAsking, setAsking] = useState(false)
  if (!session.isStaff || !maySeeInFull(session)) return null
  if (isFull) {
    return (
      <Button className="button" onClick={onMasked}>
        Show as they see it
      </Button>
    )
  }
  return (
    <>
      <Button
        className="button"
        onClick={() => (session.isPerson ? setAsking(true) : onFull(undefined))}
      >
        Show in full
      </Button>
      <PageDialog title="Show in full" isOpen={isAsking} onClose={() => setAsking(false)}>
        <ReasonForm
          action="Show in full"
          onCancel={() => setAsking(false)}
          onReason={(given) => {
            setAsking(false)
            onFull(given)
          }}
        />
      </PageDialog>
    </>
  )
}
