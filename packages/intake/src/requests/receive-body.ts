import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { contractLimits, type Problem, problem } from '@bursar/contract'
import type { ReceivedFile } from '@bursar/records'
import { watchRate } from './stream-rate.ts'

export type ReceivedBody = {
  /** The file of the bytes as they were sent, and what deciphers it. */
  readonly path: string
  readonly key: Uint8Array
  /** Of these bytes, in hex. */
  readonly sha256: string
}

/**
 * Receives all of a body into a file, so that a slow client holds nothing else. Rejects with the
 * reason of the signal if it is aborted, and with a Problem if the body is too slow or too large.
 */
export async function receiveBody(
  source: Readable = Readable.from([]),
  file: ReceivedFile,
  signal: AbortSignal,
): Promise<ReceivedBody> {
  const hash = createHash('sha256')
  let bytes = 0
  const ending = new AbortController()
  const ended = AbortSignal.any([signal, ending.signal])
  const end = (reason: Problem) => ending.abort(reason)
  const endWatch = watchRate({ source, bytesReceived: () => bytes, end })
  try {
    for await (const chunk of untilAborted(source.iterator({ destroyOnReturn: false }), ended)) {
      bytes += chunk.length
      if (bytes > contractLimits.streamBytesMax) throw tooLarge
      hash.update(chunk)
      const drained = file.write(chunk)
      if (drained !== undefined) await drained
    }
    return { ...(await file.complete()), sha256: hash.digest('hex') }
  } catch (error) {
    // What ended the stream explains the failure of a read.
    throw ended.aborted ? ended.reason : error
  } finally {
    endWatch()
    // Lets the client finish, so that it reads the answer.
    source.on('error', () => {})
    source.resume()
  }
}

const tooLarge = problem(
  'tooLarge',
  `a stream must have at most ${contractLimits.streamBytesMax} bytes; send it in parts`,
)

/**
 * Passes on what is read until a signal is aborted, and then throws its reason, even while the next
 * value is awaited. The source itself goes on.
 */
async function* untilAborted<T>(values: AsyncIterable<T>, signal: AbortSignal): AsyncIterable<T> {
  const iterator = values[Symbol.asyncIterator]()
  let fail: (reason: unknown) => void = () => {}
  const onAbort = () => fail(signal.reason)
  signal.addEventListener('abort', onAbort)
  try {
    for (;;) {
      signal.throwIfAborted()
      const next = await new Promise<IteratorResult<T>>((resolve, reject) => {
        fail = reject
        iterator.next().then(resolve, reject)
      })
      if (next.done === true) return
      yield next.value
    }
  } finally {
    signal.removeEventListener('abort', onAbort)
    // return() waits for a pending read, which may never end, so its promise is not awaited.
    iterator.return?.().catch(() => {})
  }
}
