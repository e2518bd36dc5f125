import type { Clock } from '../../platform/clock.ts'
import type { Logger } from '../../platform/log.ts'
import type { Client, CredentialStore } from '../../store/credentials.ts'
import { useRecordedEverySeconds } from '../limits.ts'

/** Notes in the store when a client and its secret were last used, at most once a minute for each. */
export type UseRecorder = {
  /** Returns at once. A store that cannot be written costs a log line, never the caller's answer. */
  record(client: Client, secretId: string | undefined): void
}

export type UseRecorderSources = {
  readonly store: CredentialStore
  readonly clock: Clock
  readonly log: Logger
}

export function openUseRecorder({ store, clock, log }: UseRecorderSources): UseRecorder {
  // As many entries as there are live clients and secrets, which the operator makes.
  const recordedAt = new Map<string, bigint>()
  const pause = BigInt(useRecordedEverySeconds) * 1_000_000n
  return {
    record: (client, secretId) => {
      const now = clock()
      const key = secretId ?? client.id
      if (now - (recordedAt.get(key) ?? -pause) < pause) return
      recordedAt.set(key, now)
      store.recordUse(client.id, secretId, now).catch((error: unknown) => {
        log.warn({ err: error, client: client.id }, 'the last use of a client cannot be noted')
      })
    },
  }
}
