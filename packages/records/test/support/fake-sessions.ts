import type { Connection } from '../../../postgres/src/driver/connection.ts'

/** Sessions that never answer. The tests observe which of them the pool opens and drops. */
export function fakeSessions() {
  const opened: { dropped: boolean }[] = []
  const open = (): Connection => {
    const session = { dropped: false }
    opened.push(session)
    const silence = Promise.withResolvers<never>()
    silence.promise.catch(() => {})
    return {
      rows: () => silence.promise,
      query: () => silence.promise,
      execute: () => silence.promise,
      copyIn: () => silence.promise,
      isBroken: () => session.dropped,
      destroy: () => {
        session.dropped = true
        silence.reject(Object.assign(new Error('destroyed'), { code: 'CONNECTION_DESTROYED' }))
      },
      close: async () => {
        session.dropped = true
      },
    }
  }
  return { opened, open }
}
