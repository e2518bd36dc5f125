import { Worker } from 'node:worker_threads'
import { type Clock, hasFreeDescriptors, outOfDescriptors } from '@bursar/base'
import {
  inStatement,
  type NamedRow,
  NothingChanged,
  type Session,
  StoreUnavailable,
} from '@bursar/records'
import { connectionPragmas, existingUrl, requireUsable } from '../database.ts'
import type { Connection } from '../locks.ts'
import { inputOf, insertInto } from '../session.ts'

/** What a thread opens: its event loop, and the database with its log. */
const DESCRIPTORS = 12

type Call = {
  readonly does: 'begin' | 'commit' | 'rollback' | 'run' | 'rows' | 'stage' | 'emptyLog'
  readonly text?: string
  readonly values?: unknown
  /** The time of the transaction that begins. */
  readonly at?: bigint
}

type Answer = { readonly result?: unknown; readonly failure?: Failure }

/** An error of SQLite. To clone it would lose its code. */
type Failure = { readonly message: string; readonly errcode: number | undefined }

type Thread = {
  /** Passes a call on with the others of this turn, and resolves with its result. */
  call(call: Call): Promise<unknown>
  isAlive(): boolean
  close(): Promise<void>
}

export type ConnectionThread = Connection & {
  /** Moves the write-ahead log into the database, unless a transaction runs. Never rejects. */
  emptyLog(): Promise<void>
  close(): Promise<void>
}

/**
 * A connection to a database in a thread, so that the event loop does not wait for its statements
 * and commits. The thread starts with the first transaction, and again after its end. The session
 * is for a fixed set of statements, and for few rows.
 */
export function openConnectionThread(path: string, setup: string, clock: Clock): ConnectionThread {
  let thread: Thread | undefined
  let isOpen = true
  /** Whether another process held the lock when a transaction last began. */
  let wasRefused = false
  const running = (): Thread => {
    if (thread?.isAlive() !== true) thread = startThread(path, setup)
    return thread
  }
  return {
    isOpen: () => isOpen,
    transact: async (work) => {
      const call = traced(running().call)
      const begun = call({ does: 'begin', at: clock() })
      begun.then(
        () => {
          wasRefused = false
        },
        () => {
          wasRefused = true
        },
      )
      let isOver = false
      try {
        // The first statements go with it in one message: without the lock each fails as it does.
        // To send them for nothing takes time, so they wait while another process has the lock.
        await (wasRefused ? begun : undefined)
        const result = await work(
          sessionOver((one) => (isOver ? Promise.reject(transactionOver()) : call(one))),
        )
        isOver = true
        await call({ does: 'commit' })
        return result
      } catch (error) {
        isOver = true
        // Of a thread that has ended, SQLite rolls the transaction back.
        await call({ does: 'rollback' }).catch(() => {})
        // A refused begin is the cause, whatever work has made of it.
        await begun
        throw error
      }
    },
    emptyLog: async () => {
      // What was committed stays in the log until the next attempt.
      await Promise.try(() => running().call({ does: 'emptyLog' })).catch(() => {})
    },
    close: async () => {
      isOpen = false
      await thread?.close()
    },
  }
}

/** A statement ends when the thread has answered. */
const traced =
  (call: Thread['call']): Thread['call'] =>
  (one) =>
    inStatement('sqlite', one.text ?? one.does, () => call(one))

/** Of several statements at the same time one has failed. */
const transactionOver = () => new NothingChanged('the transaction of the statement has ended')

function sessionOver(call: Thread['call']): Session {
  const rows: Session['rows'] = async ({ text, values = [] }) =>
    (await call({ does: 'rows', text, values: values.map(inputOf).map(apart) })) as NamedRow[]
  return {
    rows,
    run: async (text) => void (await call({ does: 'run', text })),
    stage: async (staging, staged) => {
      const values = staged.map((row) => row.map(apart))
      await call({ does: 'stage', text: insertInto(staging), values })
    },
    iterate: async function* (statement) {
      yield* await rows(statement)
    },
  }
}

/** A message has all of the memory that a value is a part of. */
const apart = <T>(value: T): T | Uint8Array =>
  value instanceof Uint8Array ? new Uint8Array(value) : value

function startThread(path: string, setup: string): Thread {
  requireUsable(path)
  if (!hasFreeDescriptors(DESCRIPTORS)) throw new StoreUnavailable(outOfDescriptors)
  const worker = new Worker(new URL('./run-statements.mjs', import.meta.url), {
    // A program that embeds the service may have options that no file can be started with.
    execArgv: [],
    workerData: { url: existingUrl(path).href, setup: `${connectionPragmas}; ${setup}` },
  })
  const unanswered: PromiseWithResolvers<unknown>[] = []
  let calls: Call[] = []
  let ended: StoreUnavailable | undefined
  const end = (cause?: unknown) => {
    ended ??= new StoreUnavailable(`the thread that writes ${path} has ended`, { cause })
    for (const { reject } of unanswered.splice(0)) reject(ended)
  }
  worker.on('message', (answers: readonly Answer[]) => {
    for (const { result, failure } of answers) {
      const waiting = unanswered.shift()
      if (failure === undefined) waiting?.resolve(result)
      else waiting?.reject(errorOf(failure))
    }
  })
  worker.on('error', end)
  const { promise: exited, resolve: exit } = Promise.withResolvers<void>()
  worker.on('exit', () => {
    end()
    exit()
  })
  const send = () => {
    if (calls.length > 0) worker.postMessage(calls)
    calls = []
  }
  return {
    isAlive: () => ended === undefined,
    call: (one) => {
      if (ended !== undefined) return Promise.reject(ended)
      const answered = Promise.withResolvers<unknown>()
      unanswered.push(answered)
      // What the answers of this turn lead to goes in one message, since each wakes a thread.
      if (calls.push(one) === 1) queueMicrotask(() => process.nextTick(send))
      return answered.promise
    },
    close: async () => {
      send()
      worker.postMessage('close')
      await exited
    },
  }
}

const errorOf = ({ message, errcode }: Failure): Error =>
  Object.assign(new Error(message), { errcode })
