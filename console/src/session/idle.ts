import { useEffect } from 'react'

/** Calls `end` after some minutes without a key, a click or a touch, also across a sleep. */
export function useIdleEnd(minutes: number, isActive: boolean, end: () => void): void {
  useEffect(() => {
    if (!isActive) return undefined
    let last = Date.now()
    const check = (): boolean => {
      const isOver = Date.now() - last >= minutes * 60_000
      if (isOver) end()
      return isOver
    }
    // No timer runs while the machine sleeps, so a click may be the first to learn of the end.
    const note = () => {
      if (!check()) last = Date.now()
    }
    const events = ['pointerdown', 'keydown', 'wheel'] as const
    for (const event of events) addEventListener(event, note, { passive: true })
    document.addEventListener('visibilitychange', check)
    const timer = setInterval(check, 5000)
    return () => {
      for (const event of events) removeEventListener(event, note)
      document.removeEventListener('visibilitychange', check)
      clearInterval(timer)
    }
  }, [minutes, isActive, end])
}
