import { useState } from 'react'
import { Button } from '../values/button.tsx'
import { Icon } from '../values/icon.tsx'

type Props = {
  readonly text: string
  readonly label: string
  /** Shows the drawing alone; the label is its name. */
  readonly isIcon?: boolean
  /** The key that presses it. */
  readonly shortcut?: string
}

/** Copies a text, and says so for two seconds. */
export function CopyButton({ text, label, isIcon = false, shortcut }: Props) {
  const [isCopied, setCopied] = useState(false)
  const copy = async () => {
    await navigator.clipboard.writeText(text)
    setCopied(true)
    setTimeout(() => setCopied(false), 2000)
  }
  return (
    <Button
      className={isIcon ? 'button plain small' : 'button'}
      {...(isIcon && { 'aria-label': isCopied ? 'Copied' : label })}
      data-key={shortcut}
      onClick={() => void copy()}
    >
      <Icon name={isCopied ? 'ok' : 'copy'} />
      {!isIcon && (isCopied ? 'Copied' : label)}
      {shortcut !== undefined && <kbd>{shortcut.toUpperCase()}</kbd>}
    </Button>
  )
}
