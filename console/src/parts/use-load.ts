import { startTransition, useCallback, useEffect, useState } from 'react'
import { SignInEnded, useEnd } from '../session/console-session.ts'

export type Loaded<T> =
  | { readonly state: 'loading' }
  | { readonly state: 'loaded'; readonly value: T }
  | { readonly state: 'failed'; readonly error: unknown }

/**
 * Loads a value and loads it again when `key` changes. An answer that is late, because the key has
 * changed since, is dropped.
 */
export function useLoad<T>(
  key: string,
  load: (signal: AbortSignal) => Promise<T>,
): readonly [Loaded<T>, retry: () => void] {
  const [loaded, setLoaded] = useState<{ readonly of: string; readonly what: Loaded<T> }>()
  const [attempt, setAttempt] = useState(0)
  const end = useEnd()
  // biome-ignore lint/correctness/useExhaustiveDependencies: `key` stands for what `load` reads.
  useEffect(() => {
    const abort = new AbortController()
    const set = (what: Loaded<T>) => {
      // Many rows are drawn in slices, between which a slow phone answers the person.
      if (!abort.signal.aborted) startTransition(() => setLoaded({ of: key, what }))
    }
    load(abort.signal).then(
      (value) => set({ state: 'loaded', value }),
      (error: unknown) => {
        if (error instanceof SignInEnded && !abort.signal.aborted) end(error.message)
        else set({ state: 'failed', error })
      },
    )
    return () => abort.abort()
  }, [key, attempt])
  const retry = useCallback(() => {
    // What is shown stays until the new answer is here; a failure gives way at once.
    setLoaded((known) => (known?.what.state === 'loaded' ? known : undefined))
    setAttempt((count) => count + 1)
  }, [])
  return [loaded?.of === key ? loaded.what : { state: 'loading' }, retry]
}
