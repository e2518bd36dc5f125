import { type ReactNode, useEffect, useRef } from 'react'

type Props = {
  readonly title: string
  /** What the tab and the history call the screen; the title where nothing is given. */
  readonly name?: string
  readonly isHidden?: boolean
  readonly children?: ReactNode
}

/**
 * The heading of a screen. It names the tab, and takes the focus when the screen is opened, so a
 * screen reader says where the person is. A box that has the focus already keeps it.
 */
export function PageHeading({ title, name = title, isHidden = false, children }: Props) {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    document.title = `${name} · Bursar`
  }, [name])
  useEffect(() => {
    // With the next frame, whose layout it needs. Sooner it would need one of its own.
    const frame = requestAnimationFrame(() => {
      const isTyping = document.activeElement instanceof HTMLInputElement
      if (!isTyping) heading.current?.focus({ preventScroll: true })
    })
    return () => cancelAnimationFrame(frame)
  }, [])
  return (
    <h1 ref={heading} tabIndex={-1} className={isHidden ? 'sr' : ''}>
      {title}
      {children}
    </h1>
  )
}
