import { useState } from 'react'
import { Button, FieldError, Form, Input, Label, TextField } from 'react-aria-components'
import { PageDialog } from '../dialog.tsx'

type Props = {
  readonly isOpen: boolean
  readonly onClose: () => void
  readonly onReason: (reason: string) => void
}

const saysWhy = /[\p{L}\p{Nd}].*[\p{L}\p{Nd}]/u

/** Asks why a person looks at a record in full. The server's log keeps the answer. */
export function ReasonDialog({ isOpen, onClose, onReason }: Props) {
  const [reason, setReason] = useState('')
  return (
    <PageDialog title="Show in full" isOpen={isOpen} onClose={onClose}>
      <Form
        onSubmit={(event) => {
          event.preventDefault()
          onClose()
          onReason(reason)
        }}
      >
        <TextField
          value={reason}
          onChange={setReason}
          validate={(given) => (saysWhy.test(given) ? null : 'Say why in a few words.')}
          isRequired
          autoFocus
          maxLength={200}
        >
          <Label>Why do you need it?</Label>
          <Input />
          <FieldError />
        </TextField>
        <p className="hint">The log records your name, the record and this reason.</p>
        <Button type="submit" className="primary">
          Show in full
        </Button>
      </Form>
    </PageDialog>
  )
}
