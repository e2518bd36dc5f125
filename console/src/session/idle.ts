import { useEffect } from 'react'

/** Calls `end` after some minutes without a key, a click or a touch, also across a sleep. */
export function useIdleEnd(minutes: number, isActive: boolean, end: () => void): void {
  useEffect(() => {
    if (!isActive) return undefined
    let last = Date.now()
    const note = () => {
      last = Date.now()
    }
    const check = () => {
      if (Date.now() - last >= minutes * 60_000) end()
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
