import { useState } from 'react'
import { Button } from 'react-aria-components'

/** Copies a text, and says so for two seconds. */
export function CopyButton({ text, label }: { readonly text: string; readonly label: string }) {
  const [isCopied, setCopied] = useState(false)
  return (
    <Button
      onPress={() => {
        void navigator.clipboard.writeText(text).then(() => {
          setCopied(true)
          setTimeout(() => setCopied(false), 2000)
        })
      }}
    >
      {isCopied ? 'Copied' : label}
    </Button>
  )
}
