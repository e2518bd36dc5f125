import type { ReactNode } from 'react'
import { Button, Dialog, Heading, Modal } from 'react-aria-components'

type Props = {
  readonly title: string
  readonly isOpen: boolean
  readonly onClose: () => void
  readonly children: ReactNode
}

/** A dialog over the page. Escape and a click beside it close it. */
export function PageDialog({ title, isOpen, onClose, children }: Props) {
  return (
    <Modal
      isOpen={isOpen}
      isDismissable
      className="overlay"
      onOpenChange={(open) => {
        if (!open) onClose()
      }}
    >
      <Dialog className="dialog">
        <header>
          <Heading slot="title">{title}</Heading>
          <Button slot="close" aria-label="Close">
            ✕
          </Button>
        </header>
        {children}
      </Dialog>
    </Modal>
  )
}
