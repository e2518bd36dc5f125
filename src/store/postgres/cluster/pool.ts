import { StoreUnavailable } from '../../unavailable.ts'
import type { Connection, Query, Row } from '../driver/connection.ts'
import { unavailable } from '../driver/failure.ts'

/** A bounded set of sessions with one server, and a bounded queue before it. */
export type Pool = {
  /**
   * Runs work on a session of its own. When it is not done `withinMs` after the call, waiting included, its session is
   * dropped and the call rejects with a StoreUnavailable: a server that has stopped answering costs that long and no longer.
   * What has waited elsewhere before waits for a session so much less.
   */
  run<T>(
    work: (connection: Connection) => Promise<T>,
    withinMs?: number,
    waitedMs?: number,
  ): Promise<T>
  query(query: Query): Promise<readonly Row[]>
  /** How many sessions are at work or being waited for. */
  load(): number
  /** Drops every session that is at rest; those at work are dropped as they come back. */
  dropAll(): void
  /** Waits for what is at work, then says goodbye. Nothing new is taken. */
  close(): Promise<void>
}

export type PoolOptions = {
  readonly open: () => Connection
  /** Run once over each new session, before any work; where it rejects, so does the work. */
  readonly check?: (connection: Connection) => Promise<void>
  readonly connectionsMax: number
  /** How many may wait for a session; one more is refused at once. */
  readonly waitingMax: number
  /** How long one may wait for it. */
  readonly waitMs: number
  readonly withinMs: number
}

type Session = { readonly connection: Connection; readonly era: number; isChecked: boolean }
type Waiter = { readonly take: (session: Session) => void; readonly refuse: () => void }

export function openPool(options: PoolOptions): Pool {
  const state = openState(options)
  const run: Pool['run'] = async (work, withinMs = options.withinMs, waitedMs = 0) => {
    const deadline = openDeadline(withinMs)
    try {
      const session = await state.acquire(Math.min(options.waitMs - waitedMs, withinMs))
      const release = deadline.onPassed(() => session.connection.destroy())
      try {
        if (!session.isChecked) await options.check?.(session.connection)
        session.isChecked = true
        return await work(session.connection)
      } finally {
        release()
        state.giveBack(session)
      }
    } catch (error) {
      throw deadline.hasPassed() && !(error instanceof StoreUnavailable)
        ? unavailable('the database took too long', error)
        : error
    } finally {
      deadline.clear()
    }
  }
  return {
    run,
    query: (query) => run((connection) => connection.query(query)),
    load: state.load,
    dropAll: state.dropAll,
    close: state.close,
  }
}

function openState({ open, connectionsMax, waitingMax }: PoolOptions) {
  // The session that rested least is taken first: its plans are warm, and the others can be dropped when idle.
  const idle: Session[] = []
  const waiting = new Set<Waiter>()
  let opened = 0
  let era = 0
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
    return { connection: open(), era, isChecked: false }
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
    acquire: async (forMs: number): Promise<Session> => {
      if (closing !== undefined) throw unavailable('the service is shutting down')
      const session = waiting.size === 0 ? next() : undefined
      if (session !== undefined) return session
      if (waiting.size >= waitingMax) throw unavailable('too many requests wait for the database')
      return await waitFor(waiting, forMs)
    },
    giveBack: (session: Session) => {
      if (session.connection.isBroken() || session.era !== era || closing !== undefined) {
        drop(session)
      } else idle.push(session)
      serveWaiting()
    },
    dropAll: () => {
      era += 1
      for (const session of idle.splice(0)) drop(session)
    },
    close: async () => {
      const done = new Promise<void>((resolve) => {
        closing = resolve
      })
      for (const waiter of waiting) waiter.refuse()
      const resting = idle.splice(0)
      await Promise.all(resting.map(({ connection }) => connection.close()))
      for (const session of resting) drop(session)
      if (opened > 0) await done
    },
  }
}

function waitFor(waiting: Set<Waiter>, forMs: number): Promise<Session> {
  return new Promise((resolve, reject) => {
    const refuse = () => {
      clearTimeout(timer)
      waiting.delete(waiter)
      reject(unavailable('every session with the database is at work'))
    }
    const timer = setTimeout(refuse, forMs)
    const waiter: Waiter = {
      take: (session) => {
        clearTimeout(timer)
        resolve(session)
      },
      refuse,
    }
    waiting.add(waiter)
  })
}

/** Runs what is to happen when the time is up; infinity is never up. */
function openDeadline(withinMs: number) {
  let passed = false
  let isOver = false
  let onPassed: (() => void) | undefined
  const pass = () => {
    if (isOver) return
    passed = true
    onPassed?.()
  }
  const timer =
    withinMs === Number.POSITIVE_INFINITY
      ? undefined
      : // Where this process itself was held up, the answer may have come and not been read: that goes first.
        setTimeout(() => setImmediate(pass), withinMs)
  return {
    hasPassed: () => passed,
    onPassed: (run: () => void) => {
      onPassed = run
      return () => {
        onPassed = undefined
      }
    },
    clear: () => {
      isOver = true
      clearTimeout(timer)
    },
  }
}
