import { useEffect, useState } from 'react'
import type { DialogProps, FieldProps } from './dialog-props.ts'

/** A dialog over the page. Escape and a click beside it close it. */
export function PageDialog(props: DialogProps) {
  const { isOpen, onClose } = props
  const [outcome, setOutcome] = useState<'loaded' | 'failed'>()
  // biome-ignore lint/correctness/useExhaustiveDependencies: it is loaded when it is opened.
  useEffect(() => {
    if (!isOpen || aria !== undefined) return
    setOutcome(undefined)
    loadAria().then(
      () => setOutcome('loaded'),
      () => {
        setOutcome('failed')
        onClose()
      },
    )
  }, [isOpen])
  if (aria !== undefined) return <aria.AriaDialog {...props} />
  if (outcome !== 'failed') return null
  return (
    <p role="alert" className="not-loaded">
      “{props.title}” cannot be loaded. Check the connection, then reload the page.
    </p>
  )
}

/** A field of a dialog for a date and a time. */
export const InstantField = (props: FieldProps) =>
  aria === undefined ? null : <aria.AriaInstantField {...props} />

let aria: typeof import('./react-aria.tsx') | undefined
async function loadAria(): Promise<void> {
  aria ??= await import('./react-aria.tsx')
}

const acts = ['pointermove', 'pointerdown', 'keydown'] as const

/** The first act is mostly the click to sign in, after which a screen needs the processor. */
const AFTER_FIRST_ACT_MS = 2000

/**
 * Loads React Aria some time after the first key or touch, so that a dialog that is wanted then is
 * there at once. It takes a slow phone a quarter of a second.
 */
export function loadDialogsEarly(): void {
  const load = () => setTimeout(() => void loadAria().catch(() => {}), AFTER_FIRST_ACT_MS)
  for (const act of acts) addEventListener(act, load, { once: true, passive: true })
}
