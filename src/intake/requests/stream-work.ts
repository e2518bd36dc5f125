import { createHash } from 'node:crypto'
import type { OperatorInput, OperatorWork, WorkAnswer } from '../../contract/operation.ts'
import { type Problem, problem } from '../../contract/problem.ts'
import type { Resource } from '../../contract/resource.ts'
import { limits } from '../../platform/limits.ts'
import type { TimeSlices } from '../../platform/time-slices.ts'
import { ImportCancelled, type ImportRegistry, type RunningImport } from '../../store/imports.ts'
import { AlreadyAnswered, type KeptAnswer } from '../../store/records/import.ts'
import { StoreUnavailable } from '../../store/unavailable.ts'
import type { Entry } from '../entry.ts'
import { type ImportOptions, type ImportReport, importEntries } from '../files/import-file.ts'
import { leftOpen, readContent } from '../files/reading/content.ts'
import { readNdjson } from '../files/reading/lines.ts'
import { notesOf, outcomeOfError, outcomeOfReport } from '../note-import.ts'
import { type ReceivedBody, receiveBody } from './receive-body.ts'
import { allowedBy, type RecordDeps, refused } from './record-works.ts'
import { requestBounds, requestReading } from './request-reading.ts'
import type { StreamGate } from './stream-gate.ts'
import { watchRate } from './stream-rate.ts'

/** What the streams of a process share. */
export type StreamDeps = RecordDeps & {
  readonly gate: StreamGate
  readonly slices: TimeSlices
  readonly imports: Pick<ImportRegistry, 'begin'>
}

/**
 * The work that stores a stream of records. It reads all of the stream into a staging table, and
 * checks it there, before the store is locked. It ends when the client leaves, or when somebody
 * cancels it.
 */
export const streamWork =
  (resource: Resource, deps: StreamDeps): OperatorWork =>
  async (input) => {
    const key = idempotencyKey(input)
    deps.foreign.requireFew(input.caller)
    allowedBy(input)
    const { clientId, boundTo } = input.caller
    const running = deps.imports.begin({
      kind: resource.kind,
      importer: { clientId },
      boundTo: boundTo ?? undefined,
      isDryRun: false,
    })
    const ending = AbortSignal.any([input.request.left(), running.signal])
    const body = receiveBody(input.request.content)
    const store = async () => {
      running.enter('receiving')
      const stream = { ...openStream(input, body, deps.slices, ending), running }
      try {
        return key === undefined
          ? await storeStream(resource, deps, input, stream)
          : await storeOnce(resource, deps, input, stream, key)
      } catch (error) {
        // What ended the stream explains the failure of a read. What the store says of a merge
        // stands, because that may have stored the records.
        const isOfStore = error instanceof StoreUnavailable
        throw stream.signal.aborted && !isOfStore ? stream.signal.reason : error
      } finally {
        stream.close()
      }
    }
    try {
      running.wait('slot')
      return await deps.gate(clientId, ending, store)
    } catch (error) {
      running.end(outcomeOfError(error))
      throw error instanceof ImportCancelled ? cancelled(running.id) : error
    } finally {
      body.close()
    }
  }

const cancelled = (id: string): Problem =>
  problem('conflict', `the import ${id} was cancelled; nothing was stored`)

function idempotencyKey({ headers }: OperatorInput): string | undefined {
  const key = headers['idempotency-key']
  if (key === undefined) return undefined
  const isValid =
    typeof key === 'string' &&
    key.length <= limits.idempotencyKeyLengthMax &&
    /^[\x21-\x7e]+$/.test(key)
  if (isValid) return key
  const form = `1 to ${limits.idempotencyKeyLengthMax} printable ASCII characters without blanks`
  throw problem('malformed', `Idempotency-Key must be ${form}`)
}

type Stream = {
  readonly entries: AsyncIterable<Entry>
  /** The digest of the bytes as they were sent; for after the last entry. */
  readonly sha256: () => string
  /** Reads the bytes for their digest alone, whatever they are. */
  readonly digest: () => Promise<string>
  /** Ends the stream: its client has left or is too slow, or somebody has cancelled it. */
  readonly signal: AbortSignal
  readonly close: () => void
}

type NotedStream = Stream & { readonly running: RunningImport }

function openStream(
  { headers }: OperatorInput,
  { content, bytesReceived, sha256: digestOf }: ReceivedBody,
  slices: TimeSlices,
  ended: AbortSignal,
): Stream {
  const ending = new AbortController()
  const signal = AbortSignal.any([ended, ending.signal])
  const end = (reason: Problem) => ending.abort(reason)
  const endWatch = watchRate({ source: content, bytesReceived, end })
  const reading = requestReading(slices, signal)
  const isGzip = headers['content-encoding']?.trim().toLowerCase() === 'gzip'
  const digest = async () => {
    for await (const _bytes of untilAborted(content.iterator(leftOpen), signal)) {
      await reading.pace()
      if (bytesReceived() > limits.streamBytesMax) throw tooLarge
    }
    return digestOf()
  }
  let sha256 = ''
  const entries = async function* () {
    const decoded = readContent(content, { isGzip, bytesRead: bytesReceived }, requestBounds)
    yield* readNdjson(untilAborted(decoded, signal), reading)
    // Padding may follow the end of what is compressed.
    sha256 = await digest()
  }
  return { entries: entries(), sha256: () => sha256, digest, signal, close: endWatch }
}

const tooLarge = problem(
  'tooLarge',
  `a stream must have at most ${limits.streamBytesMax} bytes; send it in parts`,
)

const importStream = (
  resource: Resource,
  { store, rules }: RecordDeps,
  input: OperatorInput,
  { entries, signal, running }: NotedStream,
  answering?: ImportOptions['answering'],
): Promise<ImportReport> =>
  importEntries(store, resource, entries, {
    dryRun: false,
    isInServer: true,
    ...allowedBy(input),
    expected: { mayBeEmpty: true },
    faultsMax: limits.faultsAnsweredMax,
    customerId: input.caller.boundTo ?? undefined,
    rules,
    origin: { command: 'POST', clientId: input.caller.clientId },
    answering,
    signal,
    ...notesOf(running),
  })

function storedOf(report: ImportReport, sha256: string) {
  const { records, added, changed, unchanged, withdrawn } = report
  return { records, added, changed, unchanged, withdrawn, sha256 }
}

async function storeStream(
  resource: Resource,
  deps: RecordDeps,
  input: OperatorInput,
  stream: NotedStream,
  answering?: ImportOptions['answering'],
): Promise<WorkAnswer> {
  const report = await importStream(resource, deps, input, stream, answering)
  stream.running.end(outcomeOfReport(report, false))
  input.trace.rows = report.records
  if (report.faultCount > 0) throw refused(deps.foreign.shown(input, report.faults), report)
  return { body: storedOf(report, stream.sha256()) }
}

/** Stores a stream unless its key has an answer. The same request gets that answer again. */
async function storeOnce(
  resource: Resource,
  deps: RecordDeps,
  input: OperatorInput,
  stream: NotedStream,
  key: string,
): Promise<WorkAnswer> {
  const { findAnswer } = deps.store.operator
  const { clientId } = input.caller
  const known = await findAnswer(clientId, key)
  const { running } = stream
  if (known !== undefined) {
    return again(running, known, fingerprintOf(input, await stream.digest()))
  }
  const newAnswer = (report: ImportReport) => {
    const sha256 = stream.sha256()
    const answer = JSON.stringify(storedOf(report, sha256))
    return { clientId, key, fingerprint: fingerprintOf(input, sha256), answer }
  }
  try {
    return await storeStream(resource, deps, input, stream, newAnswer)
  } catch (error) {
    const other = error instanceof AlreadyAnswered ? await findAnswer(clientId, key) : undefined
    if (other === undefined) throw error
    return again(running, other, fingerprintOf(input, stream.sha256()))
  }
}

/** A key says that a request is the same. So another kind or query is another request too. */
const fingerprintOf = ({ request }: OperatorInput, sha256: string): string =>
  createHash('sha256')
    .update(JSON.stringify([`${request.method} ${request.path}?${request.rawQuery}`, sha256]))
    .digest('hex')

function again(
  running: RunningImport,
  { fingerprint, answer }: KeptAnswer,
  sent: string,
): WorkAnswer {
  if (fingerprint === sent) {
    running.end({ state: 'answered_before' })
    return { body: answer }
  }
  const detail = 'this Idempotency-Key was sent with another request before; take a new one'
  throw problem('keyReused', detail)
}

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
