import type { ReactNode } from 'react'

export type DialogProps = {
  readonly title: string
  readonly isOpen: boolean
  readonly onClose: () => void
  readonly children: ReactNode
  /** A bare one has no heading; its title is read aloud. */
  readonly look?: 'usual' | 'wide' | 'bare'
}

export type FieldProps = {
  readonly label: string
  /** The text of an instant; empty for none. */
  readonly value: string
  /** Gets the text of the instant; undefined while a part is missing. */
  readonly onChange: (instant: string | undefined) => void
  /** Takes the focus when it is shown. */
  readonly isFirst?: boolean
}
