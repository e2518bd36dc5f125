import { type RefObject, useEffect, useRef, useState } from 'react'

/** Whether a place was in the window once, or a little below it. */
export function useIsSeen(): readonly [RefObject<HTMLDivElement | null>, boolean] {
  const place = useRef<HTMLDivElement>(null)
  const [isSeen, setIsSeen] = useState(false)
  useEffect(() => {
    if (isSeen || place.current === null) return undefined
    const observer = new IntersectionObserver(
      (entries) => {
        if (entries.some(({ isIntersecting }) => isIntersecting)) setIsSeen(true)
      },
      { rootMargin: '200px' },
    )
    observer.observe(place.current)
    return () => observer.disconnect()
  }, [isSeen])
  return [place, isSeen]
}
