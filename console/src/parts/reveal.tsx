import { useId, useState } from 'react'
import { Button } from '../values/button.tsx'

type Props = {
  /** What the button says. */
  readonly action?: string
  readonly onReason: (reason: string) => void
  readonly onCancel: () => void
}

const saysWhy = /[\p{L}\p{Nd}].*[\p{L}\p{Nd}]/u

/** Asks why a person looks at records in full. The server's log keeps the answer. */
export function ReasonForm({ action = 'Show for 60 seconds', onReason, onCancel }: Props) {
  const id = useId()
  const [reason, setReason] = useState('')
  const [hasTried, setTried] = useState(false)
  const isVague = hasTried && !saysWhy.test(reason)
  return (
    <form
      className="reveal"
      onSubmit={(event) => {
        event.preventDefault()
        if (saysWhy.test(reason)) onReason(reason)
        else setTried(true)
      }}
    >
      <div className="field">
        <label htmlFor={id}>Why do you need it in full?</label>
        <input
          id={id}
          className="input"
          value={reason}
          onChange={(event) => setReason(event.target.value)}
          onKeyDown={(event) => {
            if (event.key === 'Escape') onCancel()
          }}
          // biome-ignore lint/a11y/noAutofocus: the person has asked for this form.
          autoFocus
          autoComplete="off"
          maxLength={200}
          aria-invalid={isVague}
          aria-describedby={`${id}-log`}
        />
        <span className="quiet" id={`${id}-log`}>
          Your name, the time and this reason are written to the access log. Do not write any
          account number here.
        </span>
        {isVague && (
          <span role="alert" className="fault">
            Say why in a few words.
          </span>
        )}
      </div>
      <Button type="submit" className="button primary">
        {action}
      </Button>
      <Button className="button plain" onClick={onCancel}>
        Cancel <kbd>Esc</kbd>
      </Button>
    </form>
  )
}
