import assert from 'node:assert/strict'
import {
  answerKeyOf,
  type Background,
  type Clock,
  importDigest,
  type Logger,
  openAnswer,
  type PurposeKey,
} from '@bursar/base'
import { v7 as timeOrderedUuid } from 'uuid'
import type { Dialect } from '../dialect.ts'
import {
  type EarlierRequest,
  ImportCancelled,
  type ImportFailure,
  type Imports,
  type KeyedRequest,
  type ListedImport,
  type NewImport,
  type RunningImport,
} from '../imports.ts'
import { optionalText, text } from '../row.ts'
import type { WrappingKeys } from '../sealing/customer-key-rows.ts'
import type { Reads, Session } from '../session.ts'
import { NothingChanged, StoreUnavailable } from '../unavailable.ts'
import { readCountedImports, readImport } from './import-rows.ts'
import { importStatements } from './import-statements.ts'

/** What an adapter gives the imports. */
export type ImportSessions = Reads & {
  readonly transact: WaitingTransact
  readonly dialect: Dialect
  readonly clock: Clock
  readonly keyring: () => Promise<WrappingKeys>
  readonly background: Background
  readonly log: Logger
  readonly lock: ImportLock
}

/** A transaction that waits for merges of other processes, until a signal ends the wait. */
export type WaitingTransact = <T>(
  work: (session: Session) => Promise<T>,
  signal?: AbortSignal,
) => Promise<T>

/**
 * The lock by which other processes see that the imports of this one run. The system, or the
 * database, releases it when this process ends, killed or not.
 */
export type ImportLock = {
  /** Resolves with its number once it is held. */
  hold(): Promise<number>
  /** No later lock has the same number. */
  release(): void
}

/** The numbers of locks are whole numbers below this one. */
export const LOCK_NUMBER_END = 2 ** 48 - 1

/** An import of this process. */
type Own = {
  readonly cancelling: AbortController
  /** What is still to be written of it, because the store refused it. */
  unwritten?: () => Promise<unknown>
}

export function openImports(sessions: ImportSessions): Imports {
  const { rows, transact, dialect, clock, keyring, background, log, lock } = sessions
  const statements = importStatements(dialect)
  const own = new Map<string, Own>()
  let isFailing = false
  const end = (id: string) => {
    own.delete(id)
    if (own.size > 0) return
    watching?.stop()
    watching = undefined
    lock.release()
  }
  const look = async (): Promise<void> => {
    for (const [id, { unwritten }] of own) {
      if (unwritten === undefined) continue
      await unwritten()
      end(id)
    }
    if (own.size === 0) return
    for (const row of await rows(statements.look([...own.keys()]))) {
      own.get(text(row, 'id'))?.cancelling.abort(new ImportCancelled())
    }
  }
  let watching: ReturnType<Background['start']> | undefined
  const watch = () =>
    background.start('watch-imports', async () => {
      try {
        await look()
        isFailing = false
        return {}
      } catch (error) {
        if (!isFailing)
          log.warn({ err: error }, 'the rows of running imports cannot be read or written')
        isFailing = true
        return { isFailed: true }
      }
    })
  /** Marks the imports of processes that have died. Reads go on without it. */
  const loseAbandoned = async (): Promise<void> => {
    const ids = (await rows(statements.unheld)).map((row) => text(row, 'id'))
    if (ids.length === 0) return
    await transact(({ rows: write }) => write(statements.lose(ids, clock()))).catch(
      (error: unknown) => {
        if (!(error instanceof StoreUnavailable)) throw error
      },
    )
  }
  const find = async (id: string, ofClientsOf: string | undefined) => {
    const [row] = await rows(statements.find(id, ofClientsOf))
    return row && readImport(row)
  }
  const running = (id: string, purposeKey: PurposeKey): RunningImport => {
    const { key } = purposeKey
    const { cancelling } = own.get(id) ?? { cancelling: new AbortController() }
    const fail = async (failure: ImportFailure, digests?: readonly string[]) => {
      const write = () =>
        transact((session) => session.rows(statements.fail(id, failure, digests, clock())))
      try {
        await write()
      } catch (error) {
        const each = own.get(id)
        if (each !== undefined) each.unwritten = write
        throw error
      }
      end(id)
      return (await find(id, undefined)) ?? gone(id)
    }
    return {
      row: { id, answerKey: answerKeyOf(key, id) },
      signal: cancelling.signal,
      digestOf: (sha256) => importDigest(key, 'file', sha256),
      fail,
      end: () => end(id),
    }
  }
  /** Locks the row of the key, so that two requests with it are answered one after the other. */
  const earlierRequest = async (
    { rows: query }: Session,
    keys: WrappingKeys,
    { importer }: NewImport,
    keyed: KeyedRequest | undefined,
  ): Promise<EarlierRequest | undefined> => {
    if (keyed === undefined || !('clientId' in importer)) return undefined
    const { clientId } = importer
    await query(statements.emptyKey(clientId, keyed.key, clock()))
    const [row] = await query(statements.findKey(clientId, keyed.key))
    if (row === undefined) return undefined
    const id = text(row, 'id')
    if (text(row, 'state') === 'running') return { is: 'running', id }
    const keyId = text(row, 'key_id')
    const key = keys.all('import').find((each) => each.id === keyId)?.key
    if (key === undefined) throw new NothingChanged(`the key ${keyId} is missing`)
    if (optionalText(row, 'fingerprint') !== importDigest(key, 'request', keyed.request)) {
      return { is: 'another' }
    }
    const answer = openAnswer(answerKeyOf(key, id), id, text(row, 'answer'))
    if (answer === undefined) throw new NothingChanged(`the answer of the import ${id} is damaged`)
    return { is: 'stored', id, answer }
  }
  const beginOnce = async (
    entry: NewImport,
    sha256s: readonly string[],
    keyed: KeyedRequest | undefined,
    signal: AbortSignal | undefined,
  ): Promise<RunningImport | EarlierRequest> => {
    const keys = await keyring()
    const purposeKey = keys.current('import')
    const digests = sha256s.map((sha256) => importDigest(purposeKey.key, 'file', sha256))
    // A process that has died may have left a row with the same idempotency key.
    if (keyed !== undefined) await loseAbandoned()
    const id = timeOrderedUuid()
    own.set(id, { cancelling: new AbortController() })
    try {
      const row = {
        ...entry,
        id,
        lockNumber: await lock.hold(),
        keyId: purposeKey.id,
        digests,
        idempotencyKey: keyed?.key,
        fingerprint: keyed && importDigest(purposeKey.key, 'request', keyed.request),
      }
      const earlier = await transact(async (session) => {
        const known = await earlierRequest(session, keys, entry, keyed)
        if (known !== undefined) return known
        const begun = await session.rows(statements.begin(row, clock()))
        // Another request has begun with this idempotency key at the same moment.
        return begun.length === 0 ? ({ is: 'running', id } as const) : undefined
      }, signal)
      if (earlier === undefined) {
        watching ??= watch()
        return running(id, purposeKey)
      }
      end(id)
      return earlier
    } catch (error) {
      end(id)
      throw error
    }
  }
  return {
    begin: async (entry, sha256s = [], signal = undefined) => {
      const begun = await beginOnce(entry, sha256s, undefined, signal)
      assert(!('is' in begun), 'An import without an idempotency key has no earlier one.')
      return begun
    },
    beginOnce,
    list: async (part) => {
      await loseAbandoned()
      return (await rows(statements.list(part))).map(readImport)
    },
    find: async (id, ofClientsOf) => {
      await loseAbandoned()
      return await find(id, ofClientsOf)
    },
    findFile: async (sha256, importsMax) => {
      await loseAbandoned()
      const keys = await keyring()
      const named = new Set((await rows(statements.keyIds)).map((row) => text(row, 'key_id')))
      const digests = keys
        .all('import')
        .filter(({ id }) => named.has(id))
        .map(({ key }) => importDigest(key, 'file', sha256))
      if (digests.length === 0) return []
      return (await rows(statements.findDigests(digests, importsMax))).map(readImport)
    },
    cancel: async (id, ofClientsOf) => {
      await loseAbandoned()
      const before = await find(id, ofClientsOf)
      if (before === undefined) return { outcome: 'unknown' }
      const marked = await transact(({ rows: write }) => write(statements.cancel(id, clock())))
      if (marked.length > 0) own.get(id)?.cancelling.abort(new ImportCancelled())
      const found = (await find(id, ofClientsOf)) ?? before
      return { outcome: marked.length === 0 ? 'ended' : 'cancelling', found }
    },
    count: async () => {
      await loseAbandoned()
      return (await rows(statements.count(clock()))).map(readCountedImports)
    },
    forget: async (keptDays) => {
      await transact(async ({ rows: write }) => {
        await write(statements.emptyKeys(clock()))
        await write(statements.sweep(clock(), keptDays))
      })
    },
    close: () => {
      watching?.stop()
      lock.release()
    },
  }
}

function gone(id: string): ListedImport {
  throw new StoreUnavailable(`the row of the import ${id} is gone`)
}
