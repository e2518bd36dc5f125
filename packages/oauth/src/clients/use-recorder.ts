import { type Clock, type Logger, limitsOf, systemTime } from '@bursar/base'
import type { Client, CredentialStore } from '@bursar/records'

const limits = limitsOf({
  /** People read "last used"; a write a minute is precise enough and keeps tokens cheap. */
  useRecordedEverySeconds: 60,
})

/** Records when a client and its secret were last used, at most once a minute each. */
export type UseRecorder = {
  /** Returns at once. If the store cannot be written, it logs a warning. */
  record(client: Client, secretId: string | undefined): void
}

export type UseRecorderDeps = {
  readonly store: CredentialStore
  readonly clock: Clock
  readonly log: Logger
}

export function openUseRecorder({ store, clock, log }: UseRecorderDeps): UseRecorder {
  // Bounded by the number of clients and secrets.
  const recordedAt = new Map<string, number>()
  const pauseMs = limits.useRecordedEverySeconds * 1000
  return {
    record: (client, secretId) => {
      const now = systemTime.elapsedMs()
      const key = secretId ?? client.id
      if (now - (recordedAt.get(key) ?? -pauseMs) < pauseMs) return
      recordedAt.set(key, now)
      store.recordUse(client.id, secretId, clock()).catch((error: unknown) => {
        log.warn({ err: error, client: client.id }, 'the last use of a client cannot be recorded')
      })
    },
  }
}
