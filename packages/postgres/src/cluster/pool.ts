import { type Metrics, noMetrics, type PoolName, systemTime } from '@bursar/base'
import { StoreUnavailable } from '@bursar/records'
import type { Connection } from '../driver/connection.ts'
import { isLostSession, unavailable } from '../driver/failure.ts'

/** A bounded set of sessions with one server, and a bounded queue for them. */
export type Pool = {
  /**
   * Runs work on one session. After `withinMs`, waiting included, the session is dropped and the
   * call rejects with a StoreUnavailable. `waitedMs`, spent in another queue, shortens the wait.
   * `waitMs` replaces that of the pool.
   */
  run<T>(
    work: (connection: Connection) => Promise<T>,
    withinMs?: number,
    waitedMs?: number,
    waitMs?: number,
  ): Promise<T>
  /** Sessions in use plus requests that wait for one. */
  load(): number
  /** Drops every idle session now, and every session in use when it is returned. */
  dropAll(): void
  /** Accepts no more work, waits for the work that is running, and closes the sessions. */
  close(): Promise<void>
}

export type PoolOptions = {
  readonly open: () => Connection
  /** Runs once on each new session, before any work. If it rejects, so does the work. */
  readonly check?: (connection: Connection) => Promise<void>
  readonly connectionsMax: number
  /** Backpressure: if so many requests wait for a session, the next is rejected at once. */
  readonly waitingMax: number
  /** How long a request may wait for a session. */
  readonly waitMs: number
  readonly withinMs: number
  /** Where the pool is measured, and under which name. */
  readonly measured?: { readonly metrics: Metrics; readonly as: PoolName } | undefined
}

type Session = { readonly connection: Connection; readonly generation: number; isChecked: boolean }
type Waiter = { readonly take: (session: Session) => void; readonly reject: () => void }

export function openPool(options: PoolOptions): Pool {
  const state = openState(options)
  const { waited, stop } = measure(options.measured, state)
  const run: Pool['run'] = async (
    work,
    withinMs = options.withinMs,
    waitedMs = 0,
    waitMs = options.waitMs,
  ) => {
    if (withinMs <= 0) throw unavailable('the time for a request was over before it was sent')
    const deadline = openDeadline(withinMs)
    const requestedAt = systemTime.elapsedMs()
    try {
      const session = await state.acquire(Math.max(0, Math.min(waitMs - waitedMs, withinMs)))
      waited(systemTime.elapsedMs() - requestedAt)
      const release = deadline.onPassed(() => session.connection.destroy())
      try {
        if (!session.isChecked) await options.check?.(session.connection).catch(refuse(session))
        session.isChecked = true
        return await work(session.connection)
      } finally {
        release()
        state.giveBack(session)
      }
    } catch (error) {
      throw deadline.hasPassed() && !(error instanceof StoreUnavailable)
        ? tooLong(withinMs, error)
        : error
    } finally {
      deadline.clear()
    }
  }
  return {
    run,
    load: state.load,
    dropAll: state.dropAll,
    close: async () => {
      stop()
      await state.close()
    },
  }
}

/** Another session may be fit for use: the role or its settings may have changed by then. */
const refuse =
  ({ connection }: Session) =>
  (reason: unknown): never => {
    connection.destroy()
    throw reason
  }

/** Has the sessions of a pool and the waits for them counted. */
function measure(
  { metrics, as }: NonNullable<PoolOptions['measured']> = { metrics: noMetrics, as: 'customers' },
  { use }: Pick<ReturnType<typeof openState>, 'use'>,
) {
  const pool = { db_client_connection_pool_name: as }
  const counts = metrics.gauge('db_client_connection_count', () => [
    [{ ...pool, db_client_connection_state: 'used' }, use().used],
    [{ ...pool, db_client_connection_state: 'idle' }, use().idle],
  ])
  const pending = metrics.gauge('db_client_connection_pending_requests', () => [
    [pool, use().waiting],
  ])
  return {
    waited: (ms: number) =>
      metrics.observe('db_client_connection_wait_time_seconds', pool, ms / 1000),
    stop: () => {
      counts()
      pending()
    },
  }
}

/** At the deadline the session is dropped, so the loss of the session is not the cause. */
function tooLong(withinMs: number, error: unknown): StoreUnavailable {
  const reason = `the database did not answer within ${Math.round(withinMs)} ms`
  return unavailable(reason, isLostSession(error) ? undefined : error)
}

function openState({ open, connectionsMax, waitingMax }: PoolOptions) {
  // The last session returned is used first, because its plans are cached.
  const idle: Session[] = []
  const waiting = new Set<Waiter>()
  let opened = 0
  let generation = 0
  let closing: (() => void) | undefined
  const drop = ({ connection }: Session) => {
    opened -= 1
    connection.destroy()
    if (opened === 0) closing?.()
  }
  const next = (): Session | undefined => {
    for (let session = idle.pop(); session !== undefined; session = idle.pop()) {
      if (!session.connection.isBroken()) return session
      drop(session)
    }
    if (opened >= connectionsMax) return undefined
    opened += 1
    return { connection: open(), generation, isChecked: false }
  }
  const serveWaiting = () => {
    const [first] = waiting
    if (first === undefined) return
    const session = next()
    if (session !== undefined) {
      waiting.delete(first)
      first.take(session)
    }
  }
  return {
    load: () => opened - idle.length + waiting.size,
    use: () => ({ used: opened - idle.length, idle: idle.length, waiting: waiting.size }),
    acquire: async (forMs: number): Promise<Session> => {
      if (closing !== undefined) throw unavailable('the service is shutting down')
      const session = waiting.size === 0 ? next() : undefined
      if (session !== undefined) return session
      if (waiting.size >= waitingMax) throw unavailable('too many requests wait for the database')
      return await waitFor(waiting, forMs)
    },
    giveBack: (session: Session) => {
      const isOld = session.generation !== generation || closing !== undefined
      if (isOld || session.connection.isBroken()) drop(session)
      else idle.push(session)
      serveWaiting()
    },
    dropAll: () => {
      generation += 1
      for (const session of idle.splice(0)) drop(session)
    },
    close: async () => {
      const done = Promise.withResolvers<void>()
      closing = done.resolve
      for (const waiter of waiting) waiter.reject()
      const sessions = idle.splice(0)
      await Promise.all(sessions.map(({ connection }) => connection.close()))
      for (const session of sessions) drop(session)
      if (opened > 0) await done.promise
    },
  }
}

function waitFor(waiting: Set<Waiter>, forMs: number): Promise<Session> {
  return new Promise((resolve, rejectWith) => {
    const reject = () => {
      cancel()
      waiting.delete(waiter)
      rejectWith(unavailable('every database session is in use'))
    }
    const cancel = systemTime.after(forMs, reject)
    const waiter: Waiter = {
      take: (session) => {
        cancel()
        resolve(session)
      },
      reject,
    }
    waiting.add(waiter)
  })
}

/** Calls back once the time is up. An infinite time is never up. */
function openDeadline(withinMs: number) {
  let hasPassed = false
  let isCleared = false
  let onPassed: (() => void) | undefined
  const pass = () => {
    if (isCleared) return
    hasPassed = true
    onPassed?.()
  }
  const cancel =
    withinMs === Number.POSITIVE_INFINITY
      ? () => {}
      : // If this process was blocked, the answer may have arrived unread. It is read first.
        systemTime.after(withinMs, () => setImmediate(pass))
  return {
    hasPassed: () => hasPassed,
    onPassed: (run: () => void) => {
      onPassed = run
      return () => {
        onPassed = undefined
      }
    },
    clear: () => {
      isCleared = true
      cancel()
    },
  }
}
