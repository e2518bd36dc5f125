import type { Writable } from 'node:stream'
import postgres from 'postgres'
import type { ServerAddress } from '../../../platform/postgres-url.ts'
import { unavailable } from './failure.ts'
import { sessionSocket } from './session-socket.ts'
import { sessionLost } from './socket-events.ts'

/** What a statement is given. Arrays are written as text by `textArray`, so that no parameter's type is guessed. */
export type Value = string | bigint | number | boolean | null | Uint8Array

/** Columns as the server sent them: UTF-8 bytes of the text form, or null. Nothing is decoded on the way. */
export type Row = readonly (Buffer | null)[]

export type Query = {
  readonly text: string
  readonly values?: readonly Value[]
  /** Kept by the server under a name; for the few shapes that are asked again and again. */
  readonly prepare?: boolean
}

/** One session of a server. Statements run one at a time; whoever holds it awaits each. */
export type Connection = {
  query(query: Query): Promise<readonly Row[]>
  /** Runs statements without parameters, several at once if need be. */
  execute(text: string): Promise<void>
  /** `copy … from stdin`: what is written becomes rows. */
  copyIn(text: string): Promise<Writable>
  /** True once it can serve nobody any more. */
  isBroken(): boolean
  /** Drops the socket without a word. Whatever was running rejects. */
  destroy(): void
  /** Says goodbye and waits until the server has heard it. */
  close(): Promise<void>
}

export type SessionOptions = {
  /** Settings of the session, sent as it starts. */
  readonly parameters: Readonly<Record<string, string | number>>
  readonly connectTimeoutMs: number
}

/**
 * Opens lazily: the first statement connects. The library's own pool, reconnecting and queue are not used (one session
 * for each instance), because a session whose server stopped answering must be dropped from our side, at once.
 */
export function openConnection(address: ServerAddress, options: SessionOptions): Connection {
  const session = openSession(address, options)
  const { sql } = session
  const run = async <T>(begin: () => Promise<T>): Promise<T> => {
    // The library would connect once more, and for a session that is dropped do so for ever.
    if (session.isBroken()) throw sessionLost()
    try {
      return await session.watch(begin())
    } catch (error) {
      if (!(error instanceof postgres.PostgresError)) session.markBroken()
      throw error
    }
  }
  const answer = async ({ text, values = [], prepare = false }: Query) =>
    await run(() => sql.unsafe(text, [...values] as never[], { prepare }).raw())
  return {
    query: async (query) => rowsOf(await answer(query)).map(copied),
    execute: async (text) => {
      await run(() => sql.unsafe(text).simple())
    },
    copyIn: async (text) => {
      const query = sql.unsafe(text)
      const stream = session.endWith(await run(() => query.writable()))
      // A copy that fails after its end was sent: the library forgets the stream then, and tells the query, which has
      // been answered with the stream already.
      Object.assign(query, { reject: (error: Error) => stream.destroy(error) })
      return stream
    },
    isBroken: session.isBroken,
    destroy: session.destroy,
    close: async () => {
      await sql.end({ timeout: CLOSE_SECONDS })
      session.destroy()
    },
  }
}

const CLOSE_SECONDS = 1

const rowsOf = (rows: unknown): readonly Row[] => rows as readonly Row[]
const copied = (row: Row): Row => row.map((value) => value && Buffer.from(value))

function openSession(address: ServerAddress, { parameters, connectTimeoutMs }: SessionOptions) {
  const socket = sessionSocket(address, connectTimeoutMs)
  let unreplicated = false
  let copying: Writable | undefined
  const markBroken = () => {
    socket.destroy()
    copying?.destroy(sessionLost())
  }
  const settings = {
    ...oneSession(address, connectTimeoutMs),
    connection: { application_name: 'bursar', client_min_messages: 'warning', ...parameters },
    onnotice: (notice: postgres.Notice) => {
      if (notice.routine === CANCELED_WAIT) unreplicated = true
    },
    onclose: markBroken,
    // Not in the library's types: makes the socket, so that it can be destroyed from here.
    socket: socket.open,
  }
  const sql = postgres(settings as postgres.Options<Record<string, never>>)
  return {
    sql,
    markBroken,
    isBroken: socket.isDestroyed,
    /** Else a stream that has sent its end would wait for ever for a server that is gone. */
    endWith: (stream: Writable) => {
      copying = stream
      stream.once('close', () => {
        copying = undefined
      })
      return stream
    },
    watch: async <T>(pending: Promise<T>): Promise<T> => {
      const result = await pending
      if (unreplicated) throw unavailable('committed on the primary, perhaps on no standby')
      return result
    },
    destroy: () => {
      markBroken()
      sql.end({ timeout: 0 }).catch(() => {})
    },
  }
}

/** The library's settings for an instance that is one session, which lasts until somebody ends it. */
export const oneSession = (
  { credentials, host, port }: ServerAddress,
  connectTimeoutMs: number,
) => ({
  ...credentials,
  // Where it is encrypted, our own socket has seen to that.
  ssl: false,
  host,
  port,
  max: 1,
  fetch_types: false,
  // The library would otherwise end the session under whoever holds it, in its own time.
  max_lifetime: null,
  idle_timeout: 0,
  connect_timeout: connectTimeoutMs / 1000,
})

/**
 * Where the server's warning comes from when a commit stops waiting for its synchronous standby: it is durable here and
 * perhaps nowhere else, so nobody may be told that it is done. (Its code is 01000 or 57P01, its words are in the
 * server's language.)
 */
const CANCELED_WAIT = 'SyncRepWaitForLSN'

/** An array literal: `{"a","b"}`. Null stays null. */
export const textArray = (values: readonly (string | null)[]): string =>
  `{${values.map((value) => (value === null ? 'null' : quoted(value))).join(',')}}`

const quoted = (text: string): string => `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`
