import type { Writable } from 'node:stream'
import { type Config, pageBuffers, type ServerAddress } from '@bursar/base'
import { inStatement, type NamedRow, type Statement } from '@bursar/records'
import postgres from 'postgres'
import { isAborted, sessionLost, unavailable } from './failure.ts'
import { withGrant } from './missing-right.ts'
import { preparePassword } from './prepare-password.ts'
import { pinnedSettings } from './required-settings.ts'
import { sessionSocket } from './session-socket.ts'
import type { SessionSettings } from './sessions.ts'

/** The columns by position, as the server sent them: UTF-8 bytes of the text form, or null. */
export type Row = readonly (Buffer | null)[]

/** One session with a server. Each caller awaits its statements, or reads by `readTogether`. */
export type Connection = {
  /** Runs a statement. Returns its rows by column name. */
  rows(query: Statement): Promise<readonly NamedRow[]>
  /** Runs a statement. Returns its rows by column position, undecoded and copied by `copy`. */
  query(query: Statement, copy?: (bytes: Buffer) => Buffer): Promise<readonly Row[]>
  /** Runs one or more statements without parameters. */
  execute(text: string): Promise<void>
  /** Runs `copy … from stdin` and returns the stream of its data. */
  copyIn(text: string): Promise<Writable>
  /** True once the session cannot run another statement. */
  isBroken(): boolean
  /** Closes the socket at once. A running statement rejects. */
  destroy(): void
  /** Sends Terminate and waits for the socket to close. */
  close(): Promise<void>
}

export type SessionOptions = {
  /** Settings that the session starts with, beside those that are required. */
  readonly parameters: SessionSettings
  readonly connectTimeoutMs: number
  /**
   * Behind `transaction`, each transaction may run in another session of the server. So there are
   * no settings of a session and no named statements. `none` by default.
   */
  readonly pooler?: Pooler | undefined
  /** Whether it starts with all these settings. By default it does unless there is a pooler. */
  readonly isPinned?: boolean
  /** Called for each notification of a channel that the session listens to. */
  readonly onNotification?: (payload: string) => void
  /** Called when the session has ended. */
  readonly onClose?: () => void
}

export type Pooler = Config['pooler']

/**
 * Opens one session, which connects at its first statement. The library's pool and reconnection
 * stay unused, because they cannot drop a session at once when its server stops answering.
 */
export function openConnection(address: ServerAddress, options: SessionOptions): Connection {
  const session = openSession(address, options)
  const { sql } = session
  const run = <T>(text: string, begin: () => Promise<T>): Promise<T> =>
    inStatement('postgresql', text, () => runOpen(begin))
  /** Why the server refuses every statement of its transaction, if it does. */
  let failure: unknown
  const runOpen = async <T>(begin: () => Promise<T>): Promise<T> => {
    // The library would reconnect, and would retry for ever if the session was destroyed.
    if (session.isBroken()) throw sessionLost()
    try {
      const result = await session.settle(begin())
      failure = undefined
      return result
    } catch (error) {
      if (!(error instanceof postgres.PostgresError)) session.destroy()
      // Of statements that were sent together, the first that fails says why. Somebody may see the
      // failure of a later one before.
      if (!isAborted(error)) failure = withGrant(error, address.credentials.user)
      throw failure ?? error
    }
  }
  const send = ({ text, values = [], prepare: isFrequent = false }: Statement) => {
    const prepare = isFrequent && options.pooler !== 'transaction'
    // Without values, the library would send even a statement to prepare as text to parse.
    const parsing = prepare ? { simple: false } : {}
    return sql.unsafe(text, [...values] as never[], { prepare, ...parsing })
  }
  return {
    rows: async ({ longText, ...query }) => {
      if (longText === undefined) return await run(query.text, () => send(query))
      const rows = await run(query.text, () => send(query).raw())
      return rows.map((row) => decoded(rows.columns, row, longText))
    },
    // The read buffer that holds the values is reused, so they are copied.
    query: async (query, copy = (bytes) => Buffer.from(bytes)) =>
      (await run(query.text, () => send(query).raw())).map((row) =>
        row.map((value) => value && copy(value)),
      ),
    execute: async (text) => {
      await run(text, () => sql.unsafe(text).simple())
    },
    copyIn: async (text) => {
      const query = sql.unsafe(text)
      const stream = session.endWith(await run(text, () => query.writable()))
      // If a copy fails after its end was sent, the library only calls `reject` of the query, whose
      // promise has resolved with the stream. A later statement would not say why, so the call
      // must destroy the stream.
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

/** Copies bytes to the memory of pages. The read buffer that holds them is reused. */
export function lentCopy(bytes: Buffer): Buffer {
  const copy = pageBuffers.lend(bytes.length)
  bytes.copy(copy)
  return copy
}

/** A raw row by column name. The bytes of one column are copied, and the others decoded. */
function decoded(
  columns: readonly Pick<postgres.Column<string>, 'name' | 'parser'>[],
  row: Row,
  longText: string,
): NamedRow {
  const values = columns.map(({ name, parser }, at) => {
    const value = row[at]
    if (value == null) return [name, null]
    if (name === longText) return [name, lentCopy(value)]
    const text = value.toString()
    return [name, parser === undefined ? text : parser(text)]
  })
  return Object.fromEntries(values)
}

/** Reads integer as bigint too, so that a whole number has one type. */
const wholeNumbers = { ...postgres.BigInt, from: [20, 23] }

const CLOSE_SECONDS = 1

function openSession(address: ServerAddress, options: SessionOptions) {
  const { parameters, connectTimeoutMs, pooler = 'none' } = options
  const { isPinned = pooler === 'none' } = options
  const { onNotification = () => {}, onClose = () => {} } = options
  const socket = sessionSocket(address, connectTimeoutMs)
  const password = address.credentials.pass
  let isUnreplicated = false
  let copying: Writable | undefined
  const destroy = () => {
    socket.destroy()
    copying?.destroy(sessionLost())
    // The library forgets a statement that it got between an error of the socket and its close.
    sql.end({ timeout: 0 }).catch(() => {})
  }
  const settings = {
    ...address.credentials,
    // Servers compare other passwords, such as those of MD5, as they were typed.
    ...(password !== '' && {
      pass: () => (socket.asksForScram() ? preparePassword(password) : password),
    }),
    // The session socket has already started TLS.
    ssl: false,
    host: address.host,
    port: address.port,
    max: 1,
    fetch_types: false,
    types: { bigint: wholeNumbers },
    // By default the library ends old sessions, even while they are in use.
    max_lifetime: null,
    idle_timeout: 0,
    connect_timeout: connectTimeoutMs / 1000,
    connection: {
      application_name: 'bursar',
      ...(isPinned && { ...pinnedSettings, ...parameters }),
    },
    onnotice: (notice: postgres.Notice) => {
      if (notice.routine === CANCELED_WAIT) isUnreplicated = true
    },
    // The library's types lack the last two options. `socket` creates the socket.
    onclose: () => {
      destroy()
      onClose()
    },
    onnotify: (_channel: string, payload: string) => onNotification(payload),
    socket: socket.open,
  }
  const sql = postgres(settings as postgres.Options<{ bigint: postgres.PostgresType<bigint> }>)
  return {
    sql,
    isBroken: socket.isDestroyed,
    /** Destroys the stream when the session breaks; it would otherwise wait for ever. */
    endWith: (stream: Writable) => {
      copying = stream
      stream.once('close', () => {
        copying = undefined
      })
      return stream
    },
    settle: async <T>(pending: Promise<T>): Promise<T> => {
      const result = await pending
      if (isUnreplicated) throw unavailable('the primary committed, but no standby confirmed')
      return result
    },
    destroy,
  }
}

/**
 * The server routine that warns when a commit stops waiting for its synchronous standby. Such a
 * change must not be acknowledged. The warning's code and text do not identify it.
 */
const CANCELED_WAIT = 'SyncRepWaitForLSN'

/** PostgreSQL's text form of bytes: `\x` and two hexadecimal digits for each. */
export const hexOf = (bytes: Uint8Array): string => `\\x${Buffer.from(bytes).toString('hex')}`

/** An array literal, such as `{"a","b",null}`. */
export const textArray = (values: readonly (string | null)[]): string =>
  `{${values.map((value) => (value === null ? 'null' : quoted(value))).join(',')}}`

const quoted = (text: string): string => `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`
